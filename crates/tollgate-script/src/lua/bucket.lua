-- Shared by the scripts that count: token buckets. A bucket is the hash of refilledAt, in Unix ms, and tokens, where fewer
-- than none are a debt. All of it is made when the first bucket comes up: most calls have none.
local function buckets()
  local max, min, floor = math.max, math.min, math.floor

  -- The bucket under a key: refilledAt and tokens as text, or false where there is none. HMGET itself refuses a value of
  -- another type.
  local function read(key)
    local found = call('HMGET', key, 'refilledAt', 'tokens', 'refilled_at')
    local refilled_at, tokens = found[1], found[2]
    if found[3] then
      -- A limiter that keeps the time elsewhere has taken this bucket for a new one, and its tokens for its own.
      wrong = 'TOLLGATE a bucket is shared with a limiter of another layout'
      return false
    end
    if not refilled_at and not tokens then
      if call('EXISTS', key) == 1 then
        wrong = 'TOLLGATE a bucket is kept where a hash of other fields is'
      end
      return false
    end
    if not refilled_at or not tokens
      or not find(refilled_at, '^%d+$') or tonumber(refilled_at) > MAX
      or not find(tokens, '^%-?%d+%.?%d*$') or math.abs(tonumber(tokens)) > MAX
    then
      wrong = 'TOLLGATE a bucket does not hold the numbers refilledAt and tokens'
      return false
    end
    if find(tokens, '.', 1, true) then
      -- Another limiter spent a fraction. What is left of that unit is nobody's.
      tokens = digits(floor(tonumber(tokens)))
    end
    return refilled_at, tokens
  end

  -- What is in it at an instant, every whole refill until then added: refilledAt and tokens. Where a clock that is ahead has
  -- been, its time decides. A bucket that is full by then restarts its interval.
  local function refilled(refilled_at, tokens, capacity, refill, interval, now)
    now = max(now, refilled_at)
    local passed = now - refilled_at
    local refills = (passed - passed % interval) / interval
    local added_at = refilled_at + refills * interval
    if tokens < 0 then
      -- Out of the debt first, step by step: the sum of the debt and the capacity could be no exact number.
      local steps = min(refills, floor(-tokens / refill))
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

  -- How long it lives: until it is full, counted from the time that decided, which is never before refilledAt.
  local function lives(refilled_at, tokens, capacity, refill, interval, now)
    local full_after, refills = MAX - SLACK, 0
    if tokens >= capacity then
      full_after = 0
    elseif refill > 0 then
      if tokens < 0 then
        refills = divide_up(-tokens, refill)
        local rest = -tokens % refill
        tokens = rest > 0 and refill - rest or 0
      end
      if tokens < capacity then
        refills = refills + divide_up(capacity - tokens, refill)
      end
      full_after = min(full_after, refills * interval)
    end
    return digits(max(0, full_after - max(0, now - refilled_at)) + SLACK)
  end

  return read, refilled, lives
end
