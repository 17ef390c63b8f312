-- Corrects earlier charges in the windows they were made in, once for each id. A window that no longer counts is left alone,
-- and so is a bucket that has no room for a refund. More units are taken out of a bucket in any case: where there is none it
-- is full. Nothing else but the memory of the id is ever created.
--
-- KEYS: what the id is remembered under; then for each correction in order its window, or its bucket.
-- ARGV: now, and for how many ms to remember the id. Then for each correction: kind (f, s, b); the amount in two parts, each
--   within 2^53 - 1 of nothing, and the second 0 unless the first is as large as can be; width in ms, start of the window; for
--   a bucket: kind, the amount, interval in ms, refill, capacity.
-- Replies with 1, or with 0 if the id was settled before.

local now, keep = tonumber(ARGV[1]), ARGV[2]
if call('EXISTS', KEYS[1]) == 1 then
  return 0
end

-- Everything is read and checked before anything is written: an error must not leave half a settlement.
local read_bucket, refilled, bucket_lives
-- What is to be written, four values each: key, refilledAt or false, the amount, how long it lives.
local writes, last = {}, 0
local key, at = 1, 3
while at <= #ARGV do
  local kind, amount, more, width = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
  key = key + 1
  local value, refilled_at, lives
  if kind == 'b' then
    if not read_bucket then
      read_bucket, refilled, bucket_lives = buckets()
    end
    local refill, capacity = tonumber(ARGV[at + 4]), tonumber(ARGV[at + 5])
    at = at + 6
    local raw_at, raw_tokens = read_bucket(KEYS[key])
    if raw_at then
      refilled_at, value = refilled(tonumber(raw_at), tonumber(raw_tokens), capacity, refill, width, now)
    end
    if amount > 0 and not value then
      refilled_at, value = now, capacity
    end
    if value and (amount > 0 or value < capacity or now < tonumber(raw_at)) then
      for _, part in ipairs({ amount, more }) do
        -- A refund fills it at most, a charge takes it to the deepest debt at most.
        value = -part < capacity - value and math.max(-MAX, value - part) or capacity
      end
      if value >= capacity then
        refilled_at = math.max(now, refilled_at)
      end
      lives = bucket_lives(refilled_at, value, capacity, refill, width, now)
      refilled_at = digits(refilled_at)
    else
      value = nil -- gone, or full by itself, which is the same: there is nothing to give back
    end
  else
    local start = tonumber(ARGV[at + 4])
    at = at + 5
    local used = tonumber(read_counter(KEYS[key]) or 0)
    -- A counter of 0 counts as missing: it may have been forgotten already, so it is not brought back.
    if used > 0 then
      value = amount < MAX - used and math.max(0, used + amount) or MAX
      local idle_at = start + (kind == 's' and 2 * width or width)
      lives = digits(math.max(0, idle_at - math.max(now, start)) + SLACK)
    end
    refilled_at = false
  end
  if value then
    writes[last + 1], writes[last + 2], writes[last + 3], writes[last + 4] = KEYS[key], refilled_at, digits(value), lives
    last = last + 4
  end
end
if wrong then
  return redis.error_reply(wrong)
end

call('SET', KEYS[1], '1', 'PX', keep)
for i = 1, last, 4 do
  if writes[i + 1] then
    call('HSET', writes[i], 'refilledAt', writes[i + 1], 'tokens', writes[i + 2])
    call('PEXPIRE', writes[i], writes[i + 3])
  else
    call('SET', writes[i], writes[i + 2], 'PX', writes[i + 3])
  end
end
return 1
