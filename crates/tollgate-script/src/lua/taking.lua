-- Shared by the scripts that take: what is done for one take, all or nothing. If every charge that votes fits, all are written;
-- otherwise only those that always are.
--
-- Given: at and last_at, the places of its first and its last argument; key, the place before its first key.
-- Its keys: for each charge in order its key, if it is to a bucket; or its windows: [the one before,] the current one, the next,
--   and the one after that. The one before is there for sliding windows only.
-- Its arguments: for each charge how, cost, quota, width in ms, and for how many ms the current window's counter is to live; for
--   a bucket: how, cost, capacity, interval in ms, refill, now. How is three letters: the kind (f, s, b), the charging (i if
--   allowed, a always, n never), and v if it votes.
-- Leaves behind: wrong, if nothing was written because something is wrong; otherwise answer, and whether anything was written.
-- The answer is words: the verdict, and for each charge what was found: the place of the newest window counted from the current
--   one, its counter and that of the window before it; for a bucket 0, refilledAt and tokens; where nothing was found - 0 0. The
--   verdict is a number of bits: the lowest is the take's, the others are the charges'. It is -1, and nothing is written, if a
--   window is stored that begins more than a window after now.

-- Everything is read and checked before anything is written: an error must not leave half a take.
local read_bucket, refilled, bucket_lives
local found, verdict, bit = '', 0, 1
local admitted, behind = true, false
-- What is to be written of the last charge: whether anything is, whether always, and what `write` is called with.
local due, always, here, adds, refilled_at, text, lives
-- The same of the charges before it, six values each: there is seldom more than one.
local writes, last = nil, 0
while at <= last_at do
  local kind, charging, votes = string.byte(ARGV[at], 1, 3)
  text = ARGV[at + 1]
  local cost, quota, fits = tonumber(text), tonumber(ARGV[at + 2]), false
  local raw, used, interval, refill, now, tokens
  if kind == 98 then -- b
    if not read_bucket then
      read_bucket, refilled, bucket_lives = buckets()
    end
    key = key + 1
    here = KEYS[key]
    interval, refill, now = tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4]), tonumber(ARGV[at + 5])
    at = at + 6
    refilled_at, tokens = now, quota
    local raw_at, raw_tokens = read_bucket(here)
    if raw_at then
      found = found .. ' 0 ' .. raw_at .. ' ' .. raw_tokens
      refilled_at, tokens = refilled(tonumber(raw_at), tonumber(raw_tokens), quota, refill, interval, now)
    else
      found = found .. ' - 0 0'
    end
    fits = cost <= tokens and quota > 0
  else
    local slides, before = kind == 115, false -- s
    if slides then
      key = key + 1
      before = read_counter(KEYS[key])
    end
    here, lives, refilled_at = KEYS[key + 1], ARGV[at + 4], false
    raw = read_counter(here)
    if call('EXISTS', KEYS[key + 2], KEYS[key + 3]) > 0 then
      local following, beyond = read_counter(KEYS[key + 2]), read_counter(KEYS[key + 3])
      if beyond then
        behind = true
        found = found .. ' 2 ' .. beyond .. ' ' .. (following or '0')
      else
        -- A clock that is ahead has been here: its window's start decides.
        found = found .. ' 1 ' .. following .. ' ' .. (raw or '0')
        here, before, raw = KEYS[key + 2], slides and raw, following
        lives = digits(tonumber(ARGV[at + 3]) * (slides and 2 or 1) + SLACK)
      end
    elseif raw then
      found = found .. ' 0 ' .. raw .. ' ' .. (before or '0')
    elseif before then
      found = found .. ' -1 ' .. before .. ' 0'
    else
      found = found .. ' - 0 0'
    end
    used = raw and tonumber(raw) or 0
    local left = quota
    if before and before ~= '0' then
      -- A sliding counter lives until its window and the next have passed: that tells how much of it is left.
      local width = tonumber(ARGV[at + 3])
      left = left - weigh(tonumber(before), tonumber(lives) - SLACK - width, width)
    end
    fits = cost <= left - used and quota > 0
    key, at = key + 3, at + 5
  end

  bit = bit * 2
  if fits then
    verdict = verdict + bit
  elseif votes == 118 then -- v
    admitted = false
  end
  always = charging == 97 -- a
  due = cost > 0 and (always or fits and charging == 105) -- i
  if due then
    if refilled_at then
      tokens = tokens - cost
      if tokens < -MAX then
        tokens = -MAX
      end
      lives = bucket_lives(refilled_at, tokens, quota, refill, interval, now)
      refilled_at, text = digits(refilled_at), digits(tokens)
    else
      adds = raw and not owed and cost < MAX - used
      if raw and not adds then
        text = digits(cost < MAX - used and used + cost or MAX)
      end
    end
    if at <= last_at then
      writes = writes or {}
      writes[last + 1], writes[last + 2], writes[last + 3] = always, here, adds
      writes[last + 4], writes[last + 5], writes[last + 6] = refilled_at, text, lives
      last = last + 6
    end
  end
end

local answer, written = nil, false
if behind then
  answer = '-1' .. found
elseif not wrong then
  answer = (admitted and verdict + 1 or verdict) .. found
  if due and (admitted or always) then
    write(here, adds, refilled_at, text, lives)
    written = true
  end
  for i = 1, last, 6 do
    if admitted or writes[i] then
      write(writes[i + 1], writes[i + 2], writes[i + 3], writes[i + 4], writes[i + 5])
      written = true
    end
  end
end
