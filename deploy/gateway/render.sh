#!/bin/sh
# Writes the gateway's nginx configuration to standard output, from nginx.conf.template and the GATEWAY_* settings
# (README.md lists them). The same files serve npm start, compose and Kubernetes; what differs between releases of
# nginx, and between sizes of container, is decided here. An invalid setting ends it with one line on standard error
# and exit code 1.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
PATH=$PATH:/usr/local/sbin:/usr/sbin # where packages put nginx, and where a user's PATH often does not look

fail() {
  printf 'gateway: %s\n' "$1" >&2
  exit 1
}
. "$here/capacity.sh"

export GATEWAY_NGINX="${GATEWAY_NGINX:-nginx}"
export GATEWAY_DIRECTORY="${GATEWAY_DIRECTORY:-/tmp/gateway}"
export GATEWAY_LISTEN="${GATEWAY_LISTEN:-8080}"
export GATEWAY_INTERNAL_LISTEN="${GATEWAY_INTERNAL_LISTEN:-127.0.0.1:8081}"
export GATEWAY_TLS_LISTEN="${GATEWAY_TLS_LISTEN:-8443}"
export GATEWAY_TLS_PORT="${GATEWAY_TLS_PORT:-443}"
export GATEWAY_TLS_DIRECTORY="${GATEWAY_TLS_DIRECTORY:-}"
export GATEWAY_UPSTREAMS="${GATEWAY_UPSTREAMS:-}"
export GATEWAY_READINESS_UPSTREAMS="${GATEWAY_READINESS_UPSTREAMS:-}"
export GATEWAY_TRUSTED_PROXIES="${GATEWAY_TRUSTED_PROXIES:-}"
export GATEWAY_LIMITS="${GATEWAY_LIMITS:-on}"
export GATEWAY_RATE="${GATEWAY_RATE:-1000}"
export GATEWAY_BURST="${GATEWAY_BURST:-2000}"
export GATEWAY_CONNECTIONS="${GATEWAY_CONNECTIONS:-512}"
export GATEWAY_HEAD_TIMEOUT="${GATEWAY_HEAD_TIMEOUT:-5s}"
export GATEWAY_CLIENT_TIMEOUT="${GATEWAY_CLIENT_TIMEOUT:-10s}"
export GATEWAY_IDLE_TIMEOUT="${GATEWAY_IDLE_TIMEOUT:-60s}"
export GATEWAY_MEMORY="${GATEWAY_MEMORY:-}"
export GATEWAY_WORKERS="${GATEWAY_WORKERS:-1}"
export GATEWAY_WORKER_CONNECTIONS="${GATEWAY_WORKER_CONNECTIONS:-}"
export GATEWAY_LOG="${GATEWAY_LOG:-all}"
export GATEWAY_ACCESS_LOG="${GATEWAY_ACCESS_LOG:-/dev/stdout}"
export GATEWAY_ERROR_LEVEL="${GATEWAY_ERROR_LEVEL:-crit}"

[ -n "$GATEWAY_MEMORY" ] || GATEWAY_MEMORY=$(default_memory_mib 512)
[ -n "$GATEWAY_UPSTREAMS" ] || fail 'GATEWAY_UPSTREAMS is required: host:port of each API replica, separated by spaces'
case $GATEWAY_LIMITS in on | off) ;; *) fail "GATEWAY_LIMITS must be on or off, not '$GATEWAY_LIMITS'" ;; esac
case $GATEWAY_LOG in all | failures | off) ;; *) fail "GATEWAY_LOG must be all, failures or off, not '$GATEWAY_LOG'" ;; esac
for name in GATEWAY_RATE GATEWAY_BURST GATEWAY_CONNECTIONS GATEWAY_MEMORY GATEWAY_WORKERS GATEWAY_WORKER_CONNECTIONS \
  GATEWAY_TLS_PORT; do
  eval "value=\$$name"
  [ "$name$value" != GATEWAY_WORKER_CONNECTIONS ] || continue # is derived below
  case $value in '' | 0* | *[!0-9]*) fail "$name must be a whole number above 0, not '$value'" ;; esac
done
# Characters that end a value in nginx are refused, so that a setting cannot add directives.
for name in GATEWAY_LISTEN GATEWAY_INTERNAL_LISTEN GATEWAY_TLS_LISTEN GATEWAY_UPSTREAMS GATEWAY_READINESS_UPSTREAMS \
  GATEWAY_TRUSTED_PROXIES GATEWAY_HEAD_TIMEOUT GATEWAY_CLIENT_TIMEOUT GATEWAY_IDLE_TIMEOUT GATEWAY_ERROR_LEVEL; do
  eval "value=\$$name"
  case $value in *[!A-Za-z0-9.:_/\ \[\]-]*) fail "$name holds a character that does not belong there" ;; esac
done
for name in GATEWAY_DIRECTORY GATEWAY_TLS_DIRECTORY GATEWAY_ACCESS_LOG; do
  eval "value=\$$name"
  case $value in *[\"\$\;\{\}\\]*) fail "$name holds a character that does not belong into a path" ;; esac
done

# The internal listener of each replica, on the port that the images give it.
if [ -z "$GATEWAY_READINESS_UPSTREAMS" ]; then
  for server in $GATEWAY_UPSTREAMS; do
    GATEWAY_READINESS_UPSTREAMS="${GATEWAY_READINESS_UPSTREAMS:+$GATEWAY_READINESS_UPSTREAMS }${server%:*}:9464"
  done
fi

# --- certificates -----------------------------------------------------------------------------------------------
export GATEWAY_TLS='' GATEWAY_TLS_PUBLIC_PORT=''
if [ -n "$GATEWAY_TLS_DIRECTORY" ]; then
  for file in tls.crt tls.key; do
    [ -r "$GATEWAY_TLS_DIRECTORY/$file" ] || fail "GATEWAY_TLS_DIRECTORY must hold a readable $file"
  done
  GATEWAY_TLS=on
  [ "$GATEWAY_TLS_PORT" = 443 ] || GATEWAY_TLS_PUBLIC_PORT=":$GATEWAY_TLS_PORT"
fi

# --- what this release of nginx knows ---------------------------------------------------------------------------
command -v "$GATEWAY_NGINX" >/dev/null || fail "$GATEWAY_NGINX is not installed: install nginx 1.22 or newer"
version=$("$GATEWAY_NGINX" -v 2>&1 | sed -n 's|.*nginx/\([0-9.]*\).*|\1|p')
[ -n "$version" ] || fail "$GATEWAY_NGINX -v names no version"
at_least() {
  printf '%s\n' "$version" | awk -v want="$1" '{ split($1, a, "."); split(want, b, ".")
    for (i = 1; i <= 3; i++) if (a[i] + 0 != b[i] + 0) exit !(a[i] + 0 > b[i] + 0) }'
}
at_least 1.22.0 || fail "nginx $version is too old: install 1.22 or newer"
export GATEWAY_HTTP2_DIRECTIVE=''
if at_least 1.25.1; then GATEWAY_HTTP2_DIRECTIVE=on; fi
# Requests on one TLS connection. Releases before 1.25.3 do not see a client that opens and resets streams without end
# (CVE-2023-44487); closing each connection after 1,000 requests limits the damage.
export GATEWAY_TLS_REQUESTS=1000
if at_least 1.25.3; then GATEWAY_TLS_REQUESTS=100000; fi

# Releases from 1.27.3 on resolve the name of the replicas again while they run; older ones only at start.
export GATEWAY_RESOLVE='' GATEWAY_RESOLVER=''
if printf '%s' "$GATEWAY_UPSTREAMS $GATEWAY_READINESS_UPSTREAMS" | grep -q '[A-Za-z]' && at_least 1.27.3; then
  GATEWAY_RESOLVE=' resolve'
  # Only the first name server: nginx would ask all of them in turn, and the others may not know the containers.
  GATEWAY_RESOLVER=$(awk '$1 == "nameserver" { print $2 ~ /:/ ? "[" $2 "]" : $2; exit }' /etc/resolv.conf)
fi

# --- how much it takes on ---------------------------------------------------------------------------------------
# Some open files are for logs and listeners.
FILES_BESIDES=64
hard_limit=$(ulimit -Hn)
if [ -z "$GATEWAY_WORKER_CONNECTIONS" ]; then
  connections=$(connections_within "$GATEWAY_MEMORY" "$GATEWAY_WORKERS" "$GATEWAY_TLS")
  [ "$connections" -ge 256 ] || fail "GATEWAY_MEMORY is too little: $GATEWAY_MEMORY MiB serve $connections connections, at least 256 are needed"
  GATEWAY_WORKER_CONNECTIONS=$((connections / GATEWAY_WORKERS))
  if [ "$hard_limit" != unlimited ] && [ "$hard_limit" -lt $((GATEWAY_WORKER_CONNECTIONS + FILES_BESIDES)) ]; then
    GATEWAY_WORKER_CONNECTIONS=$((hard_limit - FILES_BESIDES))
  fi
fi
export GATEWAY_OPEN_FILES=$((GATEWAY_WORKER_CONNECTIONS + FILES_BESIDES))
if [ "$hard_limit" != unlimited ] && [ "$hard_limit" -lt "$GATEWAY_OPEN_FILES" ]; then GATEWAY_OPEN_FILES=$hard_limit; fi
# Each request needs a second connection, to a replica; and only some of the bodies may be large at a time.
export GATEWAY_REQUESTS_MAX=$((GATEWAY_WORKER_CONNECTIONS * GATEWAY_WORKERS / 2))
export GATEWAY_LARGE_BODIES_MAX=$((GATEWAY_REQUESTS_MAX / 4))
export GATEWAY_REFUSED_STREAMS_MAX=$((GATEWAY_REQUESTS_MAX / 4))
# Of each worker process: idle connections to replicas leave most of its connections to clients.
export GATEWAY_IDLE_UPSTREAM=$((GATEWAY_WORKER_CONNECTIONS / 4))

# Workers of a master that runs as root would be "nobody", who cannot reach a private directory.
export GATEWAY_ROOT=''
if [ "$(id -u)" = 0 ]; then GATEWAY_ROOT="$(id -un) $(id -gn)"; fi

exec awk -f "$here/render.awk" "${1:-$here/nginx.conf.template}"
