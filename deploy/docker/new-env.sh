#!/bin/sh
# Makes .env from .env.example, with a new secret in each place, readable by its owner alone. Keeps one that exists.
# Of the console's password .env gets the hash, and the terminal the password. The hash takes Node 24 or Docker.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
file=${1:-$root/.env}
[ ! -e "$file" ] || { printf 'new-env: %s exists: delete it first if its secrets may go\n' "$file" >&2; exit 1; }
umask 077
random() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }
hash='import(process.env.CODE + "/password-hash.ts").then(async ({ hashPassword }) => {
  console.log(await hashPassword(require("node:fs").readFileSync(0, "utf8"))) })'
hashed() {
  code=$root/packages/platform/src/passwords
  if node -e 'process.exit(parseInt(process.versions.node) < 24 ? 1 : 0)' 2>/dev/null; then
    CODE=$code node -e "$hash"
  else
    docker run --rm -i -e CODE=/code -v "$code:/code:ro" node:24-bookworm-slim node -e "$hash"
  fi
}
password=$(random | cut -c1-24)
users=$(printf '%s' "$password" | hashed) ||
  { printf 'new-env: the hash of the console’s password takes Node 24 or Docker\n' >&2; exit 1; }
while IFS= read -r line; do
  entry=${line#OPS_USERS=} entry=${entry%generate}
  case $line in
  # In single quotes: compose would take $ for the beginning of a variable.
  OPS_USERS=*generate) printf "OPS_USERS='%s%s'\n" "$entry" "$users" ;;
  [A-Z]*generate) printf '%s%s\n' "${line%generate}" "$(random)" ;;
  *) printf '%s\n' "$line" ;;
  esac
done <"$root/.env.example" >"$file"
printf 'sign in to the console as operator with %s\n' "$password"
