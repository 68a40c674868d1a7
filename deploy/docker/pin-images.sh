#!/bin/sh
# Pins the base images of the Dockerfile to what their tags name now: name:tag becomes name:tag@sha256:… Run it again to
# take newer ones. Needs Docker with buildx, and the registry of images.
set -eu
file=$(dirname "$0")/Dockerfile
grep -E '^ARG [A-Z]+_IMAGE=' "$file" | while IFS='=' read -r argument image; do
  tag=${image%@*}
  digest=$(docker buildx imagetools inspect "$tag" | sed -n 's/^Digest: *\(sha256:[0-9a-f]\{64\}\)$/\1/p')
  [ -n "$digest" ] || { printf 'pin-images: the registry names no digest of %s\n' "$tag" >&2; exit 1; }
  sed "s|^$argument=.*|$argument=$tag@$digest|" "$file" >"$file.new"
  cat "$file.new" >"$file"
  rm "$file.new"
  printf '%s@%s\n' "$tag" "$digest"
done
