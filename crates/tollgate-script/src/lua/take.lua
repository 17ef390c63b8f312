-- Takes charges, all or nothing: if every charge that votes fits, all are written; otherwise only those that always are.
--
-- KEYS: for each charge to a window, in order: [the window before,] the current one, the next, and the one after that. The
--   window before is only there for sliding ones. Then one for each bucket, in order. Then, if keep is not 0, the key that
--   the answer is remembered under.
-- ARGV: now, the number of keys of windows, keep in ms. Then for each charge: kind (f, s, b), charging (i if allowed,
--   a always, n never), votes (1, 0), cost, quota, width in ms, and how far now lies into the window; for a bucket: cost,
--   capacity, interval in ms, refill.
-- Replies with words: the verdict, and for each charge what was found: the place of the newest window counted from the
--   current one, its counter and that of the window before it; for a bucket 0, refilledAt and tokens; where nothing was
--   found - 0 0. The verdict is a number of bits: the lowest is the take's, the others are the charges'. It is -1, and
--   nothing is written, if now lies more than one window behind what is stored.

-- What a window before still weighs: before * share / width, rounded up, where share is what is left of the current one.
local function weigh(before, share, width)
  local product = before * share
  if product <= MAX then
    return divide_up(product, width)
  end
  -- Digit by digit to the base of 4096, as on paper: with a width up to 2^40 every step stays below 2^53.
  local quotient, rest, scale = 0, 0, 281474976710656
  while scale >= 1 do
    rest = rest * 4096 + math.floor(before / scale) % 4096 * share
    quotient = quotient * 4096 + math.floor(rest / width)
    rest = rest % width
    scale = scale / 4096
  end
  return rest > 0 and quotient + 1 or quotient
end

local now, windows, keep = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local remembered = keep ~= '0' and KEYS[#KEYS]
if remembered then
  local answer = redis.call('GET', remembered)
  if answer then
    return answer
  end
end

-- Everything is read and checked before anything is written: an error must not leave half a take.
local counters, wrong = read_counters(1, windows)
if wrong then
  return wrong
end

local words = { '-1' }
local verdict, bit = 0, 1
local admitted, behind = true, false
local always, allowed = {}, {}
local window_key, bucket_key = 0, windows
for at = 4, #ARGV, 7 do
  local kind = ARGV[at]
  local cost, quota, width = tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4]), tonumber(ARGV[at + 5])
  local fits, write
  local place, first, second = '-', '0', '0'
  if kind == 'b' then
    bucket_key = bucket_key + 1
    local key = KEYS[bucket_key]
    local raw_at, raw_tokens = read_bucket(key)
    if raw_at == nil then
      return raw_tokens
    end
    local refill = tonumber(ARGV[at + 6])
    local refilled_at, tokens = now, quota
    if raw_at then
      place, first, second = '0', raw_at, raw_tokens
      refilled_at, tokens = refilled(tonumber(raw_at), tonumber(raw_tokens), quota, refill, width, now)
    end
    fits = quota > 0 and cost <= tokens
    write = function()
      write_bucket(key, refilled_at, math.max(-MAX, tokens - cost), quota, refill, width, now)
    end
  else
    local slides = kind == 's'
    -- The place of the current window among the keys.
    local current = window_key + (slides and 2 or 1)
    window_key = current + 2
    local here, offset = current, tonumber(ARGV[at + 6])
    if counters[current + 2] then
      behind = true
      place, first, second = '2', counters[current + 2], counters[current + 1] or '0'
    elseif counters[current + 1] then
      -- A clock that is ahead has been here: its window's start decides.
      here, offset = current + 1, 0
      place, first, second = '1', counters[current + 1], counters[current] or '0'
    elseif counters[current] then
      place, first, second = '0', counters[current], slides and counters[current - 1] or '0'
    elseif slides and counters[current - 1] then
      place, first = '-1', counters[current - 1]
    end
    local used = tonumber(counters[here] or 0)
    local left = quota
    if slides and counters[here - 1] then
      left = left - weigh(tonumber(counters[here - 1]), width - offset, width)
    end
    fits = quota > 0 and cost <= left - used
    write = function()
      -- The value and its lifetime at once, so that a key that lost its lifetime has one again.
      local count = cost < MAX - used and used + cost or MAX
      local lives = (slides and 2 * width or width) - offset + SLACK
      redis.call('SET', KEYS[here], digits(count), 'PX', digits(lives))
    end
  end
  bit = bit * 2
  if fits then
    verdict = verdict + bit
  elseif ARGV[at + 2] == '1' then
    admitted = false
  end
  local n = #words
  words[n + 1], words[n + 2], words[n + 3] = place, first, second
  local charging = ARGV[at + 1]
  if cost > 0 and charging == 'a' then
    always[#always + 1] = write
  elseif cost > 0 and charging == 'i' and fits then
    allowed[#allowed + 1] = write
  end
end

if not behind then
  words[1] = verdict + (admitted and 1 or 0)
end
local answer = table.concat(words, ' ')
if behind or #always == 0 and (#allowed == 0 or not admitted) then
  return answer
end

for _, write in ipairs(always) do
  write()
end
if admitted then
  for _, write in ipairs(allowed) do
    write()
  end
end
if remembered then
  redis.call('SET', remembered, answer, 'PX', keep)
end
return answer
