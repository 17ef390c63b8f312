-- Corrects earlier charges in the windows they were made in, once for each id. What no longer counts is left alone, and
-- nothing but the memory of the id is ever created.
--
-- KEYS: what the id is remembered under; for each correction of a window, in order, that window; then one for each bucket.
-- ARGV: now, the number of keys of windows, for how many ms to remember the id. Then for each correction: kind (f, s, b),
--   the amount in two parts, each within 2^53 of nothing and the second only there where the first is as large as can be,
--   quota, width in ms, start of the window; for a bucket: the amount, capacity, interval in ms, refill.
-- Replies with 1, or with 0 if the id was settled before.

local now, windows, keep = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
if redis.call('EXISTS', KEYS[1]) == 1 then
  return 0
end

-- Everything is read and checked before anything is written: an error must not leave half a settlement.
local counters, wrong = read_counters(2, windows + 1)
if wrong then
  return wrong
end
local buckets = {}
for at = windows + 2, #KEYS do
  local refilled_at, tokens = read_bucket(KEYS[at])
  if refilled_at == nil then
    return tokens
  end
  buckets[at] = refilled_at and { tonumber(refilled_at), tonumber(tokens) }
end

local function settle_window(key, used, amount, lives)
  if amount < MAX - used then
    used = math.max(0, used + amount)
  else
    used = MAX
  end
  redis.call('SET', key, digits(used), 'PX', digits(math.max(0, lives) + SLACK))
end

local function settle_bucket(key, bucket, amounts, capacity, refill, interval)
  local refilled_at, tokens = refilled(bucket[1], bucket[2], capacity, refill, interval, now)
  if tokens >= capacity and now >= bucket[1] then
    return -- full by itself, so it was as good as gone
  end
  for _, amount in ipairs(amounts) do
    -- A refund fills it at most, a charge takes it to the deepest debt at most.
    if -amount >= capacity - tokens then
      tokens = capacity
    else
      tokens = math.max(-MAX, tokens - amount)
    end
  end
  if tokens >= capacity then
    refilled_at = math.max(now, refilled_at)
  end
  write_bucket(key, refilled_at, tokens, capacity, refill, interval, now)
end

redis.call('SET', KEYS[1], '1', 'PX', keep)
local window_key, bucket_key = 1, windows + 1
for at = 4, #ARGV, 6 do
  local kind, amount, more = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  local width = tonumber(ARGV[at + 4])
  if kind == 'b' then
    bucket_key = bucket_key + 1
    local bucket = buckets[bucket_key]
    if bucket then
      settle_bucket(KEYS[bucket_key], bucket, { amount, more }, tonumber(ARGV[at + 3]), tonumber(ARGV[at + 5]), width)
    end
  else
    window_key = window_key + 1
    local used = tonumber(counters[window_key - 1] or 0)
    -- A counter of 0 counts as missing: it may have been forgotten already, so it is not brought back.
    if used > 0 then
      local start = tonumber(ARGV[at + 5])
      local idle_at = start + (kind == 's' and 2 * width or width)
      settle_window(KEYS[window_key], used, amount, idle_at - math.max(now, start))
    end
  end
end
return 1
