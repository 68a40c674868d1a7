#!/bin/sh
# One member of the replica set, with access control. Members authenticate each other with a key file that only the
# user of mongod may read; it is written to a file system in memory.
set -eu
umask 077
printf '%s' "${MONGODB_ADMIN_PASSWORD:?set it in .env}" >/tmp/member-key
# No query reads at a past time, so no history is kept: the default of five minutes costs a third more CPU per plant.
exec mongod --replSet rs0 --bind_ip_all --keyFile /tmp/member-key --wiredTigerCacheSizeGB "${MONGODB_CACHE_GB:-0.5}" \
  --setParameter minSnapshotHistoryWindowInSeconds=0
