
if wrong then
  return redis.error_reply(wrong)
end
if remembered and written then
  call('SET', remembered, answer, 'PX', ARGV[2])
end
return answer
