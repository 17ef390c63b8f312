
return answer, written
end

answers = {}
local written, at, key = false, 2, 0
for number = 1, #ARGV do
  if at > #ARGV then
    break
  end
  local first = at + 2
  local last_at = at + 1 + tonumber(ARGV[at + 1])
  wrong, owed = nil, false
  local has_run, answer, has_written = pcall(take, first, last_at, key)
  if not has_run then
    -- It may have come between two writes.
    wrong, has_written = type(answer) == 'table' and answer.err or tostring(answer), true
  end
  answers[number] = wrong and '!' .. string.gsub(wrong, '%c', ' ') or answer
  written = written or has_written
  key, at = key + tonumber(ARGV[at]), last_at + 1
end
answers = table.concat(answers, '\n')
if written then
  -- What was taken is taken, whether or not it can be remembered.
  redis.pcall('SET', remembered, answers, 'PX', ARGV[1])
end
return answers
