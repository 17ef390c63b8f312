-- Shared by the scripts that count: token buckets. A bucket is the hash of refilledAt, in Unix ms, and tokens, where fewer
-- than none are a debt.

-- The bucket under a key: refilledAt and tokens as text, or false where there is none. Or nil and an error.
local function read_bucket(key)
  local found = redis.call('HMGET', key, 'refilledAt', 'tokens')
  local refilled_at, tokens = found[1], found[2]
  if not refilled_at and not tokens then
    -- A hash of other fields is not a new bucket: another library may keep its count there.
    if redis.call('EXISTS', key) == 1 then
      return nil, refuse('TOLLGATE a bucket is kept where a hash of other fields is')
    end
    return false
  end
  local is_number = refilled_at and tokens
    and string.find(refilled_at, '^%d+$') and tonumber(refilled_at) <= MAX
    and string.find(tokens, '^%-?%d+%.?%d*$') and math.abs(tonumber(tokens)) <= MAX
  if not is_number then
    return nil, refuse('TOLLGATE a bucket does not hold the fields refilledAt and tokens as numbers')
  end
  if string.find(tokens, '.', 1, true) then
    -- Another limiter spent a fraction. What is left of that unit is nobody's.
    tokens = digits(math.floor(tonumber(tokens)))
  end
  return refilled_at, tokens
end

-- What is in it at an instant, every whole refill until then added: refilledAt and tokens. Where a clock that is ahead has
-- been, its time decides. A bucket that is full by then restarts its interval.
local function refilled(refilled_at, tokens, capacity, refill, interval, now)
  now = math.max(now, refilled_at)
  local passed = now - refilled_at
  local refills = (passed - passed % interval) / interval
  local added_at = refilled_at + refills * interval
  if tokens < 0 then
    -- Out of the debt first, step by step: the sum of the debt and the capacity could be no exact number.
    local steps = math.min(refills, math.floor(-tokens / refill))
    tokens = tokens + steps * refill
    refills = refills - steps
    if tokens < 0 and refills > 0 then
      tokens = tokens + refill
      refills = refills - 1
    end
  end
  -- A product beyond 2^53 is no exact number, but it is not less than what is missing either.
  if refills * refill >= capacity - tokens then
    return now, capacity
  end
  return added_at, tokens + refills * refill
end

-- Keeps a bucket until it is full. Its key lives by the time that decided, which is never before refilledAt.
local function write_bucket(key, refilled_at, tokens, capacity, refill, interval, now)
  local left = MAX
  if refill > 0 then
    local refills = 0
    local held = tokens
    if held < 0 then
      refills = divide_up(-held, refill)
      local rest = -held % refill
      held = rest > 0 and refill - rest or 0
    end
    if held < capacity then
      refills = refills + divide_up(capacity - held, refill)
    end
    left = math.min(MAX, refills * interval)
  end
  redis.call('HSET', key, 'refilledAt', digits(refilled_at), 'tokens', digits(tokens))
  redis.call('PEXPIRE', key, digits(math.max(0, left - math.max(0, now - refilled_at)) + SLACK))
end
