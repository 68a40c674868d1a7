#!/bin/sh
# Pins the images of the Dockerfile and of docker-compose.yml that a registry holds to what their tags name now: name:tag
# becomes name:tag@sha256:… Run it again to take newer ones. Needs Docker with buildx, and the registry of images.
set -eu
directory=$(dirname "$0")

# pin <file> <pattern of all that precedes name:tag in a line>
pin() {
  sed -nE "s|^$2([^@}]+).*|\2|p" "$1" | while IFS= read -r tag; do
    digest=$(docker buildx imagetools inspect "$tag" | sed -n 's/^Digest: *\(sha256:[0-9a-f]\{64\}\)$/\1/p')
    [ -n "$digest" ] || { printf 'pin-images: the registry names no digest of %s\n' "$tag" >&2; exit 1; }
    sed -E "s|^($2$tag)(@sha256:[0-9a-f]*)?(\}?)\$|\1@$digest\4|" "$1" >"$1.new"
    cat "$1.new" >"$1"
    rm "$1.new"
    printf '%s@%s\n' "$tag" "$digest"
  done
}

pin "$directory/Dockerfile" '(ARG [A-Z]+_IMAGE=)'
pin "$directory/../../docker-compose.yml" '( *image: [$][{][A-Z]+_IMAGE:-)'
