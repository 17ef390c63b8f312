-- Forgets keys: those that are named, never a pattern.
--
-- KEYS: what to forget, perhaps nothing.
-- Replies with how many there were.

if #KEYS == 0 then
  return 0
end
return redis.call('DEL', unpack(KEYS))
