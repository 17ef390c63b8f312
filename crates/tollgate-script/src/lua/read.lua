-- Shared by the scripts that count: exact numbers, and the counters of windows.
--
-- Every amount is a whole number up to 2^53 - 1, which Lua's doubles hold exactly. No sum or product below may pass that
-- unnoticed, so amounts are compared by subtraction.

local MAX = 9007199254740991
-- What a key outlives its use by, in ms: room for clocks that step back a little.
local SLACK = 1000

-- As digits: Lua itself would write a large number as 9.007e+15.
local function digits(number)
  return string.format('%.0f', number)
end

-- a / b, rounded up. Exact: for whole numbers below 2^53 Lua's % is.
local function divide_up(a, b)
  local rest = a % b
  if rest > 0 then
    return (a - rest) / b + 1
  end
  return a / b
end

-- An error that says why nothing was done.
local function refuse(why)
  return redis.error_reply(why)
end

-- The counters under KEYS[first] to KEYS[last]: text for each, or false where there is none. Or nil and an error, where
-- one is no counter.
local function read_counters(first, last)
  if last < first then
    return {}
  end
  local counters = redis.call('MGET', unpack(KEYS, first, last))
  local missing = {}
  for at = 1, last - first + 1 do
    local counter = counters[at]
    if not counter then
      missing[#missing + 1] = KEYS[first + at - 1]
    elseif string.find(counter, '^%-%d+$') then
      -- Another limiter gave back more than was spent. Nobody may spend more than the quota for that.
      counters[at] = '0'
    elseif not string.find(counter, '^%d+$') or tonumber(counter) > MAX then
      return nil, refuse('TOLLGATE a counter is not a whole number up to 2^53 - 1')
    end
  end
  -- MGET passes over a value of another type as if there were none.
  if #missing > 0 and redis.call('EXISTS', unpack(missing)) > 0 then
    return nil, refuse('WRONGTYPE a counter is kept where something else is')
  end
  return counters
end
