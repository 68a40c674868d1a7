# How many connections and requests one gateway accepts: it depends on the memory it may use, not on the host's cores.
# Sourced by render.sh. The figures are measured, with a margin: docs/decisions/0008.

# In KiB, for each connection: a head as large as allowed, its share of the requests that wait for the API (half of all
# connections lead there) and of the bodies that are read; with TLS also the session's buffers.
PLAIN_CONNECTION_KIB=40
TLS_CONNECTION_KIB=56
# In MiB: the shared zones, and each process.
SHARED_MIB=24
TLS_SHARED_MIB=10
WORKER_MIB=8

# The least memory limit, in MiB, of the control groups that this process is in; nothing where there is none.
memory_limit_mib() {
  [ -r /proc/self/cgroup ] || return 0
  least=
  while IFS=: read -r number controllers path; do
    case $number:$controllers in
      0:) root=/sys/fs/cgroup file=memory.max ;;
      *:*memory*) root=/sys/fs/cgroup/memory file=memory.limit_in_bytes ;;
      *) continue ;;
    esac
    # Inside a container the path may be the host's, and the container's own group is the root.
    while :; do
      bytes=$(cat "$root$path/$file" 2>/dev/null) || bytes=
      case $bytes in
        '' | *[!0-9]*) ;;
        *) if [ -z "$least" ] || [ "$bytes" -lt "$least" ]; then least=$bytes; fi ;;
      esac
      case $path in '' | /) break ;; *) path=${path%/*} ;; esac
    done
  done </proc/self/cgroup
  if [ -n "$least" ]; then echo $((least / 1048576)); fi
}

# default_memory_mib <most>
default_memory_mib() {
  limit=$(memory_limit_mib)
  if [ -n "$limit" ] && [ "$limit" -lt "$1" ]; then echo "$limit"; else echo "$1"; fi
}

# connections_within <memory in MiB> <workers> <TLS: on or empty>: of all workers together; 0 or less where it is too little.
connections_within() {
  base=$((SHARED_MIB + WORKER_MIB * ($2 + 1)))
  each=$PLAIN_CONNECTION_KIB
  if [ -n "$3" ]; then
    base=$((base + TLS_SHARED_MIB))
    each=$TLS_CONNECTION_KIB
  fi
  # A tenth stays free, for the kernel's share and for what the heap loses.
  echo $((($1 - base) * 1024 * 9 / 10 / each))
}
