-- Creates plants with ids of its own. Arguments: first id, access token, seconds, connections, one request in how many
-- repeats an id (0: none), bytes of a name (0: a short one).
-- After `seconds` no request is sent any more; when every connection has its answer, "answered" is written, so that the
-- plants stored are exactly the answers counted. wrk by itself would hang up in the middle.
local ffi = require('ffi')
ffi.cdef [[
  typedef struct { long seconds; long nanoseconds; } time_of_day;
  int clock_gettime(int clock, time_of_day *time);
]]
local time = ffi.new('time_of_day')
local function now()
  ffi.C.clock_gettime(0, time)
  return tonumber(time.seconds) + tonumber(time.nanoseconds) / 1e9
end

local the_thread
function setup(thread)
  the_thread = thread
end

function init(args)
  first = tonumber(args[1])
  headers = { ['Authorization'] = 'Bearer ' .. args[2], ['Content-Type'] = 'application/json' }
  connections = tonumber(args[4])
  repeat_every = tonumber(args[5])
  name_bytes = tonumber(args[6])
  sent, repeated, idle, answered_at = 0, 0, 0, 0
  started_at = now()
  stop_at = started_at + tonumber(args[3])
end

function delay()
  local at = now()
  if at < stop_at then return 0 end
  idle = idle + 1
  if idle == connections then
    answered_at = at
    io.write('answered\n')
    io.flush()
  end
  return 3600000
end

function request()
  local number = sent
  if repeat_every > 0 and sent > 1000 and (sent + repeated) % repeat_every == 0 then
    repeated = repeated + 1
    number = math.random(1, sent - 1000)
  else
    sent = sent + 1
    number = sent
  end
  local name = 'Plant ' .. number
  if name_bytes > 0 then name = (name .. string.rep(' monstera', name_bytes / 9 + 1)):sub(1, name_bytes) end
  local body = string.format('{"id":%d,"name":"%s","tag":"bench"}', first + number, name)
  return wrk.format('POST', '/plants', headers, body)
end

function done(summary, latency)
  local errors = summary.errors
  local of = function(name) return the_thread:get(name) end
  io.write(string.format(
    '{"requests":%d,"repeated":%d,"refused":%d,"broken":%d,"startedAt":%.6f,"stopAt":%.6f,"answeredAt":%.6f,"p50Ms":%f,"p99Ms":%f}\n',
    summary.requests, of('repeated'), errors.status, errors.connect + errors.read + errors.write + errors.timeout,
    of('started_at'), of('stop_at'), of('answered_at'), latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
