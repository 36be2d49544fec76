#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Adds inputs to the stored ones of a fuzzer: tests/fuzz/add_seed.sh NAME FILE...  (NAME: activity, capture, cubin, payload)
# The same inputs give the same archive, byte for byte. Without a FILE it is only packed anew.
set -euo pipefail
archive="$(cd "$(dirname "${BASH_SOURCE[0]}")/../data" && pwd)/fuzz_${1:?name a fuzzer}.tar.gz"
shift
seeds="$(mktemp -d)"
trap 'rm -rf "$seeds"' EXIT
tar -xzf "$archive" -C "$seeds"
[ $# = 0 ] || cp -- "$@" "$seeds"
find "$seeds" -type f -printf '%f\0' | LC_ALL=C sort -z |
  tar -C "$seeds" --null -T - --format=ustar --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=644 -cf - |
  gzip -9n >"$archive.new"
mv "$archive.new" "$archive"
echo "$(tar -tzf "$archive" | wc -l) inputs in $archive"
