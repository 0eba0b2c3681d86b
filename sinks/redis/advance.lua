-- Moves one section of a hash forward, and never back.
-- KEYS: 1 the hash, 2 the index it stands in, 3… all keys of the same job (the job's own hash first); they expire together.
-- ARGV: 1 the field with the section's position, 2 the new position, 3 seconds to live, 4 the same once the job has ended,
--       5 now, 6 the name in the index, 7… fields and values; an empty value takes the field away.
-- Positions are numbers of fixed width, so that the order of the text is theirs.
local had = redis.call('HGET', KEYS[1], ARGV[1])
if had and had >= ARGV[2] then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
for i = 7, #ARGV, 2 do
  if ARGV[i + 1] == '' then
    redis.call('HDEL', KEYS[1], ARGV[i])
  else
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
  end
end
local live = ARGV[3]
if KEYS[3] and redis.call('HGET', KEYS[3], 'state') == 'ended' then
  live = ARGV[4]
end
redis.call('EXPIRE', KEYS[1], live)
for i = 3, #KEYS do
  redis.call('EXPIRE', KEYS[i], live)
end
redis.call('ZADD', KEYS[2], ARGV[5], ARGV[6])
return 1
