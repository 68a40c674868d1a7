-- Creates plants with ids of its own; the arguments are the first id and the access token.
local thread_count = 0
function setup(thread)
  thread:set("number", thread_count)
  thread_count = thread_count + 1
end

local sent = 0
function init(args)
  first = tonumber(args[1]) + number * 100000000
  headers = { ["Authorization"] = "Bearer " .. args[2], ["Content-Type"] = "application/json" }
end

function request()
  sent = sent + 1
  local body = string.format('{"id":%d,"name":"Plant %d","tag":"bench"}', first + sent, sent)
  return wrk.format("POST", "/plants", headers, body)
end

function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format('\n{"requests":%d,"seconds":%f,"p50Ms":%f,"p99Ms":%f,"failed":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end
