#!/bin/sh
# Renders the configuration and becomes nginx, in the foreground and without root: signals reach it as they are.
# SIGQUIT drains, SIGTERM stops at once, SIGHUP reads certificates again.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
directory=${GATEWAY_DIRECTORY:-/tmp/gateway}
mkdir -p "$directory/temp" || { printf 'gateway: GATEWAY_DIRECTORY cannot be written: %s\n' "$directory" >&2; exit 1; }
sh "$here/render.sh" >"$directory/nginx.conf"

PATH=$PATH:/usr/local/sbin:/usr/sbin
exec "${GATEWAY_NGINX:-nginx}" -e stderr -p "$directory" -c "$directory/nginx.conf" -g 'daemon off;'
