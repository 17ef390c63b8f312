-- Shared by the scripts that count: exact numbers, and the counters of windows.
--
-- Every amount is a whole number up to 2^53 - 1, which Lua's doubles hold exactly. No sum or product below may pass that
-- unnoticed, so amounts are compared by subtraction. What comes as text is made a number only where it is reckoned with:
-- the server runs one script at a time, so each step is everybody's.

local KEYS, ARGV, call, find = KEYS, ARGV, redis.call, string.find
local MAX = 9007199254740991
-- What a key outlives its use by, in ms: room for clocks that step back a little.
local SLACK = 1000

-- Why nothing may be written: what the call is answered with.
local wrong
-- Whether a counter was below nothing.
local owed = false

-- As digits. Lua by itself writes 15 digits and more as 9.007e+15.
local function digits(number)
  if number < 100000000000000 and number > -100000000000000 then
    return number .. ''
  end
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

-- The counter under a key as text, or false where there is none. GET itself refuses a value of another type. What begins with
-- a 0 and goes on is no number to INCRBY, which would fail between two writes.
local function read_counter(key)
  local counter = call('GET', key)
  if not counter or #counter < 16 and find(counter, '^[1-9]%d*$') or counter == '0' then
    return counter
  end
  if find(counter, '^%-%d+$') then
    -- Another limiter gave back more than was spent. Nobody may spend more than the quota for that.
    owed = true
    return '0'
  end
  if not find(counter, '^[1-9]%d*$') or tonumber(counter) > MAX then
    wrong = 'TOLLGATE a counter is not a whole number up to 2^53 - 1'
    return '0'
  end
  return counter
end
