-- Shared by the scripts that take: how a charge is weighed, and how it is written.

-- What a window before still weighs: before * share / width, rounded up, where share is what is left of the current one.
local function weigh(before, share, width)
  local product = before * share
  if product <= MAX then
    return divide_up(product, width)
  end
  -- Digit by digit to the base of 4096, as on paper: with a width up to 2^40 every step stays below 2^53.
  local floor, quotient, rest, scale = math.floor, 0, 0, 281474976710656
  while scale >= 1 do
    rest = rest * 4096 + floor(before / scale) % 4096 * share
    quotient = quotient * 4096 + floor(rest / width)
    rest = rest % width
    scale = scale / 4096
  end
  return rest > 0 and quotient + 1 or quotient
end

-- Writes one charge. With refilled_at it is a bucket's. One that adds goes to a counter that is there already: mostly it lives
-- long enough, but it may have lost its lifetime, or got a shorter one of a clock that is ahead.
local function write(key, adds, refilled_at, text, lives)
  if refilled_at then
    call('HSET', key, 'refilledAt', refilled_at, 'tokens', text)
    call('PEXPIRE', key, lives)
  elseif adds then
    call('INCRBY', key, text)
    if call('PTTL', key) < tonumber(lives) - SLACK then
      call('PEXPIRE', key, lives)
    end
  else
    call('SET', key, text, 'PX', lives)
  end
end

