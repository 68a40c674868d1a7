#!/bin/sh
# The password is written to a file in memory, since arguments are visible in every list of processes.
set -eu
umask 077
{
  cat /opt/redis/redis.conf
  printf 'maxmemory %s\nrequirepass %s\n' "${REDIS_MEMORY_MAX:-256mb}" "${REDIS_PASSWORD:?set it in .env}"
} >/tmp/redis.conf
exec redis-server /tmp/redis.conf
