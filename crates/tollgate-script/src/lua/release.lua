-- Frees a claim, if the token holds it: not what another one claimed since, and not what is done.
--
-- KEYS: what was claimed.
-- ARGV: the token, and l if the key is a literal one.
-- Replies with 1, or with 0 if there was nothing to free.

local held, answer = holds(0, ARGV[2] == 'l')
if not held then
  return answer
end
return call('DEL', KEYS[1])
