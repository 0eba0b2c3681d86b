-- Moves one section of a hash forward, and never back.
-- KEYS: 1 the hash, 2 the index it stands in, 3… all keys of the same job (the job's own hash first); they expire together.
-- ARGV: 1 the field with the section's position, 2 the new position, 3 seconds to live, 4 the same once the job has ended,
--       5 now, 6 the name in the index, 7 the incarnation of the job (empty: not known), 8 the time of the record,
--       9… fields and values; an empty value takes the field away.
-- Positions are numbers of fixed width, so that the order of the text is theirs.

-- Where the id of a job is used again, the keys of the old job are deleted. A record of an old job changes nothing.
local function is_present(job, incarnation, time)
  local own = string.sub(incarnation, 1, 5) == 'pipe:'
  local present = redis.call('HGET', job, 'incarnation') or ''
  local present_is_own = string.sub(present, 1, 5) == 'pipe:'
  if incarnation == '' or incarnation == present or (own and present ~= '' and not present_is_own) then
    return true
  end
  local former = redis.call('HGET', job, 'former') or '\n'
  if string.find(former, '\n' .. incarnation .. '\n', 1, true) then
    return false
  end
  if present ~= '' and own == present_is_own then
    if time < tonumber(redis.call('HGET', job, 'incarnation_at')) then
      return false
    end
    former = former .. present .. '\n'
    for _, key in ipairs({ unpack(KEYS, 3) }) do
      redis.call('DEL', key)
    end
    redis.call('HSET', job, 'former', string.sub(former, -1000))
  end
  redis.call('HSET', job, 'incarnation', incarnation, 'incarnation_at', time)
  return true
end

if KEYS[3] and not is_present(KEYS[3], ARGV[7], tonumber(ARGV[8])) then
  return 0
end
local had = redis.call('HGET', KEYS[1], ARGV[1])
if had and had >= ARGV[2] then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
for i = 9, #ARGV, 2 do
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
