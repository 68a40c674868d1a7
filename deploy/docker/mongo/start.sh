#!/bin/sh
# One member of the replica set, with access control. Members know each other by a key that only their own user may
# read, so it is written where it lies in memory alone.
set -eu
umask 077
printf '%s' "${MONGODB_ADMIN_PASSWORD:?set it in .env}" >/tmp/member-key
# Nothing reads at a past time: with the default of five minutes of history, a plant costs a third more CPU.
exec mongod --replSet rs0 --bind_ip_all --keyFile /tmp/member-key --wiredTigerCacheSizeGB "${MONGODB_CACHE_GB:-0.5}" \
  --setParameter minSnapshotHistoryWindowInSeconds=0
