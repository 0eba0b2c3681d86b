-- Slurm's job_submit/lua plugin: writes SchedMate's estimate into the comment of each job that is submitted and, only where it is turned
-- on below, the time limit of a job that has none. How to install it: README.md beside this file.
--
-- A submission waits for the answer BOUND_S at most, and goes on without an estimate then. What a user wrote (name, arguments, directory)
-- goes as JSON through a file to the program that asks. It is never a part of a shell command: that has constants alone in it.

local SOCKET = "/run/schedmate-estimates/socket"
local ASK = "/etc/slurm/schedmate_ask.py"
local PYTHON = "/usr/bin/python3"
local BOUND_S = 1
-- Give a job without a time limit one: so many times the upper end of the estimate's 90 % interval. Slurm ends the job there.
local SET_TIME_LIMIT = false
local MARGIN = 1.5
local SHORTEST_MIN = 10
local LONGEST_TEXT = 4000

local function quoted(text)
   text = tostring(text or ""):sub(1, LONGEST_TEXT)
   return '"' .. text:gsub('[%c"\\\127]', function(one) return string.format("\\u%04x", one:byte()) end) .. '"'
end

local function count(number)
   if number == nil or number < 0 or number >= slurm.NO_VAL then return 0 end
   return number
end

-- GPUs in "gres:gpu:a100:2,gres:shard:1"; what names none asks for one.
local function gpus_in(tres)
   local found = 0
   for part in tostring(tres or ""):gmatch("[^,]+") do
      if part:match("gpu") then found = found + (tonumber(part:match("[:=](%d+)$")) or 1) end
   end
   return found
end

local function command_of(job)
   local words = {}
   for place = 0, count(job.argc) - 1 do words[#words + 1] = tostring(job.argv[place] or "") end
   return table.concat(words, " ")
end

local function question(job)
   local nodes = math.max(1, count(job.min_nodes))
   local gpus = gpus_in(job.tres_per_job)
   if gpus == 0 then gpus = nodes * gpus_in(job.tres_per_node) end
   if gpus == 0 then gpus = math.max(1, count(job.num_tasks)) * gpus_in(job.tres_per_task) end
   return string.format(
      '{"job":"","user":%s,"command":%s,"directory":%s,"name":%s,"partition":%s,"gpus":%d,"cpus":%d,"nodes":%d,"time_limit_s":%d}\n',
      quoted(job.user_name), quoted(command_of(job)), quoted(job.work_dir), quoted(job.name), quoted(job.partition),
      gpus, count(job.min_cpus), nodes, 60 * count(job.time_limit))
end

local function ask(text)
   local place = os.tmpname()   -- made by mkstemp: ours alone, of plain letters
   local file = io.open(place, "w")
   if not file then return "" end
   file:write(text)
   file:close()
   local pipe = io.popen(string.format(
      "timeout -s KILL %g %s -I -S %s %s < %s 2>/dev/null", BOUND_S, PYTHON, ASK, SOCKET, place))
   local answer = pipe and pipe:read("*a") or ""
   if pipe then pipe:close() end
   os.remove(place)
   return answer
end

local function long(seconds)
   if seconds < 60 then return string.format("%.0f s", seconds) end
   local minutes = math.floor(seconds / 60 + 0.5)
   if minutes < 60 then return string.format("%d min", minutes) end
   if minutes < 48 * 60 then return string.format("%d h %d min", math.floor(minutes / 60), minutes % 60) end
   return string.format("%d d %d h", math.floor(minutes / 1440), math.floor(minutes % 1440 / 60))
end

-- The longest limit of the job's partition in minutes; nil where there is none.
local function longest_limit(job, partitions)
   for name, partition in pairs(partitions) do
      if name == job.partition or (not job.partition and partition.flag_default == 1) then
         local limit = partition.max_time
         if limit and limit > 0 and limit < slurm.NO_VAL - 2 then return limit end
      end
   end
   return nil
end

local function annotate(job, partitions)
   local answer = ask(question(job))
   local number = "([%d.eE+-]+)"
   local expected = tonumber(answer:match('"duration_s":' .. number))
   local low = tonumber(answer:match('"low_s":' .. number))
   local high = tonumber(answer:match('"high_s":' .. number))
   local method = answer:match('"method":"(%l+)"')
   if not (expected and low and high and method) then return end
   local told = string.format("schedmate: %s (%s to %s), %s", long(expected), long(low), long(high), method)
   if job.comment and job.comment ~= "" then told = job.comment .. "; " .. told end
   job.comment = told
   if SET_TIME_LIMIT and job.time_limit == slurm.NO_VAL then
      local minutes = math.max(SHORTEST_MIN, math.ceil(MARGIN * high / 60))
      local longest = longest_limit(job, partitions)
      if not longest or minutes <= longest then job.time_limit = minutes end
   end
end

function slurm_job_submit(job, partitions, uid)
   local well, error = pcall(annotate, job, partitions)   -- whatever goes wrong here, the job is submitted
   if not well then slurm.log_info("schedmate: no estimate: %s", tostring(error)) end
   return slurm.SUCCESS
end

function slurm_job_modify(job, record, partitions, uid)
   return slurm.SUCCESS
end

return slurm.SUCCESS
