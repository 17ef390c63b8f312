-- Remembers a claim as done, if the token holds it. Sent again it changes nothing.
--
-- KEYS: what was claimed.
-- ARGV: as for a claim; until when is until when to remember it.
-- Replies with 1, or with 0 if the token holds no claim: then its lease ran out, and nothing is written.

local state, token = read_claim(KEYS[1], tonumber(ARGV[2]), ARGV[5] == 'l')
if wrong then
  return redis.error_reply(wrong)
end
if not state or token ~= ARGV[1] then
  return 0
end
if state == 'p' then
  call('SET', KEYS[1], 'd:' .. ARGV[1] .. ':' .. ARGV[3], 'PX', ARGV[4])
end
return 1
