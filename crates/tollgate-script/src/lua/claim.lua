-- Claims a key for a token, if nobody holds it. Sent again it changes nothing: the token holds it already.
--
-- KEYS: what is claimed.
-- ARGV: the token, now, until when, for how many ms the key is to live, and l if the key is a literal one.
-- Replies with `ours` or `running` and until when, or with `done`.

local state, token, ends = read_claim(KEYS[1], tonumber(ARGV[2]), ARGV[5] == 'l')
if wrong then
  return redis.error_reply(wrong)
end
if state == 'd' then
  return 'done'
end
if state then
  return (token == ARGV[1] and 'ours ' or 'running ') .. ends
end
call('SET', KEYS[1], 'p:' .. ARGV[1] .. ':' .. ARGV[3], 'PX', ARGV[4])
return 'ours ' .. ARGV[3]
