-- Gives a claim another end, if the token holds it. Sent again it does the same.
--
-- KEYS: what is claimed.
-- ARGV: as for a claim.
-- Replies with 1, or with 0 if the token holds no claim.

local held, answer = holds(tonumber(ARGV[2]), ARGV[5] == 'l')
if not held then
  return answer
end
call('SET', KEYS[1], 'p:' .. ARGV[1] .. ':' .. ARGV[3], 'PX', ARGV[4])
return 1
