#!/usr/bin/env bash
# Gets what the test of the compose stack needs: Debian's Docker engine, debootstrap and, where Go is present, Compose v2.
# Without Go the test uses docker-compose 1.29, which install.sh gets.
set -u
cd "$(dirname "$0")/../.." || exit

missing=()
command -v dockerd >/dev/null || missing+=(docker.io)
command -v debootstrap >/dev/null || [ -x /usr/sbin/debootstrap ] || missing+=(debootstrap)
command -v iptables >/dev/null || [ -x /usr/sbin/iptables ] || missing+=(iptables)
if [ ${#missing[@]} -gt 0 ]; then
  as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo -n)
  echo "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  # The engine is not to start by itself: the test starts its own.
  DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
    echo "could not install ${missing[*]}: the test will be skipped"
fi

version=v2.40.3
target=$PWD/.cache/compose/bin/docker-compose
if ! docker compose version >/dev/null 2>&1 && [ ! -x "$target" ] && command -v go >/dev/null; then
  echo "building Docker Compose $version"
  mkdir -p "$(dirname "$target")"
  directory=$(go mod download -json "github.com/docker/compose/v2@$version" | sed -n 's/^[[:space:]]*"Dir": "\(.*\)",*$/\1/p')
  copy=$(mktemp -d)
  cp -r "$directory/." "$copy" && chmod -R u+w "$copy" &&
    (cd "$copy" && CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X github.com/docker/compose/v2/internal.Version=$version" -o "$target" ./cmd) ||
    echo "could not build Docker Compose $version: the test uses docker-compose 1.29"
  rm -rf "$copy"
fi
exit 0
