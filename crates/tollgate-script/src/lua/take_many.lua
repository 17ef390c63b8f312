-- Makes many takes, one after another, each as if it were alone: what goes wrong with one is its own affair.
--
-- KEYS: those of each take in order. At the end the key that the answers are remembered under.
-- ARGV: for how many ms to remember them. Then for each take how many keys and how many arguments it has, and its arguments.
-- Replies with the takes' answers in order, one a line. Where one went wrong the line is an exclamation mark and the error. If it
--   replies with an error instead, nothing was taken.

local remembered = KEYS[#KEYS]
local answers = call('GET', remembered)
if answers then
  return answers
end

local function take(at, last_at, key)
