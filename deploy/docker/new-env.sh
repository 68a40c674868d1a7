#!/bin/sh
# Makes .env from .env.example, with a new secret in each place, readable by its owner alone. Keeps one that exists.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
file=${1:-$root/.env}
[ ! -e "$file" ] || { printf 'new-env: %s exists: delete it first if its secrets may go\n' "$file" >&2; exit 1; }
umask 077
while IFS= read -r line; do
  case $line in
  [A-Z]*generate) printf '%s%s\n' "${line%generate}" "$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')" ;;
  *) printf '%s\n' "$line" ;;
  esac
done <"$root/.env.example" >"$file"
