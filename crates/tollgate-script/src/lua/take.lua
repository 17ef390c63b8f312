-- Makes one take.
--
-- KEYS: the take's. At the end, if there is an r, the key that the answer is remembered under.
-- ARGV: perhaps r, and for how many ms to remember the answer. Then the take's.
-- Replies with the take's answer.

local at, last_at, key = 1, #ARGV, 0
local remembered = ARGV[1] == 'r' and KEYS[#KEYS]
if remembered then
  local answer = call('GET', remembered)
  if answer then
    return answer
  end
  at = 3
end

