#!/bin/sh
# Healthy: it has loaded its data, and the last write to the append-only file succeeded.
set -eu
export REDISCLI_AUTH="$REDIS_PASSWORD"
state=$(timeout 2 redis-cli info persistence)
for fact in loading:0 aof_enabled:1 aof_last_write_status:ok; do
  case $state in *"$fact"*) ;; *) echo "not healthy: $fact is not so" && exit 1 ;; esac
done
