-- Shared by the scripts of claims: what is kept under a key.
--
-- A claim is text: p:<token>:<until> while somebody works, d:<token>:<until> once it is done. The token is 32 hex digits, and the
-- instant is in Unix ms, by the callers' clocks: from then on it is as if nothing were there, whenever the server drops it.

local KEYS, ARGV, call = KEYS, ARGV, redis.call

-- Why nothing may be written: what the call is answered with.
local wrong

-- The state, p or d, whose it is, and until when, as text; nothing where nobody holds the key. GET itself refuses a value of
-- another type. A literal key is shared with programs that know nothing of claims: what they keep there is done.
local function read_claim(key, now, literal)
  local value = call('GET', key)
  if not value then
    return nil
  end
  local state, token, ends = string.match(value, '^([pd]):(%x+):(%d+)$')
  if not state or #token ~= 32 or #ends > 16 then
    if literal then
      return 'd'
    end
    wrong = 'TOLLGATE a claim is not a state, a token and an instant'
    return nil
  end
  if tonumber(ends) <= now then
    return nil
  end
  return state, token, ends
end

-- Whether the token of this call works on the key by then; if it does not, what the call is answered with.
local function holds(now, literal)
  local state, token = read_claim(KEYS[1], now, literal)
  if wrong then
    return false, redis.error_reply(wrong)
  end
  return state == 'p' and token == ARGV[1], 0
end
