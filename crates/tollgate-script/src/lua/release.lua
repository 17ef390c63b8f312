-- Frees a claim, if the token holds it: not what another one claimed since, and not what is done.
--
-- KEYS: what was claimed.
-- ARGV: the token, and l if the key is a literal one.
-- Replies with 1, or with 0 if there was nothing to free.

local state, token = read_claim(KEYS[1], 0, ARGV[2] == 'l')
if wrong then
  return redis.error_reply(wrong)
end
if state ~= 'p' or token ~= ARGV[1] then
  return 0
end
return call('DEL', KEYS[1])
