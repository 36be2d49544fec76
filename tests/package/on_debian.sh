#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a command with the C library and the programs of another Debian, in this tree and in the current folder. Nothing is installed: the
# packages are unpacked into build/debian-SUITE, 26 MB once. Needs a Debian or Ubuntu with the way to its archive, and user namespaces or
# root. Exit status 77, and one line, where it cannot be made.
#
#   tests/package/on_debian.sh bullseye build/old/bin/gpuprof --version    Debian 11: glibc 2.31, Python 3.9
#   tests/package/on_debian.sh testing python3.15 -c 'print(1)'            the newest versions of CPython, with venv
set -euo pipefail

top="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
suite="${1:?usage: on_debian.sh SUITE COMMAND...}"
shift
target="$top/build/debian-$suite"
packages=(base-files bash coreutils dash grep python3 sed)
[ "$suite" != testing ] || packages+=(python3.14 python3.14-venv python3.15 python3.15-venv)

skip() {
  printf 'Debian %s is not at hand: %s\n' "$suite" "$1" >&2
  exit 77
}

# The archive that this machine is set up with, with lists of its own.
archive() {
  local found
  found="$(apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(REPO_URI)' 2>/dev/null | sort -u |
    awk '$1 == "Debian" && $2 !~ /-/ { print $3; exit }')"
  printf '%s\n' "${found:-http://deb.debian.org/debian/}"
}

unpack() {
  local work keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  command -v apt-get >/dev/null || skip "there is no apt-get"
  [ -e "$keyring" ] || skip "there is no $keyring (apt-get install debian-archive-keyring)"
  work="$(mktemp -d "$target.XXXXXX")"
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/root"
  : >"$work/status"
  echo "deb [signed-by=$keyring] $(archive) $suite main" >"$work/sources.list"
  local apt=(apt-get -q -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$work/lists"
    -o Dir::State::status="$work/status" -o Dir::Cache="$work/cache" -o APT::Sandbox::User=root -o Debug::NoLocking=1)
  "${apt[@]}" update >"$work/log" 2>&1 &&
    "${apt[@]}" install -y --no-install-recommends --download-only "${packages[@]}" >>"$work/log" 2>&1 ||
    skip "its packages could not be fetched: $(grep -m 1 '^[EW]:' "$work/log" || tail -n 1 "$work/log")"
  local file
  for file in "$work"/cache/archives/*.deb; do dpkg-deb -x "$file" "$work/root"; done
  mkdir -p "$work/root/proc" "$work/root/dev" "$work/root/tmp" "$work/root/sys"
  mv "$work/root" "$target"  # last: it says that all is there
  rm -rf "$work"
  trap - EXIT
}

mkdir -p "$top/build"
exec 9>"$target.lock"
flock 9
[ -d "$target" ] || unpack
exec 9>&-

# The folders of the tree, of the current folder, of temporary files and of certificates are the machine's own.
inner='
  set -e
  root="$1" top="$2" here="$3"
  shift 3
  for folder in /proc /dev /tmp /etc/ssl/certs "$top" "$here"; do
    [ -d "$folder" ] || continue
    mkdir -p "$root$folder"
    mount --rbind "$folder" "$root$folder"
  done
  exec chroot "$root" /bin/bash -c '\''cd "$0" && exec "$@"'\'' "$here" "$@"'
user=()
[ "$(id -u)" = 0 ] || user=(--map-root-user)
unshare --mount "${user[@]}" true 2>/dev/null || skip "this process may make no mount namespace"
exec unshare --mount "${user[@]}" bash -c "$inner" on_debian "$target" "$top" "$PWD" "$@"
