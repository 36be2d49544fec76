#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes stub libraries of an older glibc: they have its symbols and versions, and no code. What is linked against them runs with that
# glibc and all newer ones. They come from zig (PyPI, 100 MB, removed afterwards). A build with
# -DGPUPROF_GLIBC=2.28 takes them from build/glibc-2.28.
#
#   tools/fetch_glibc_stubs.sh 2.28 [FOLDER]
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
version="$1" target="${2:-$root/build/glibc-$1}"

give_up() {
  printf '%s\n' "The stub libraries of glibc $version could not be made: $1." \
    "Give pip a way to PyPI, set GPUPROF_GLIBC_STUBS to a folder made on another machine, or leave GPUPROF_GLIBC empty to build for this machine's glibc." >&2
  exit 1
}

[[ "$version" =~ ^2\.[0-9]+$ ]] || give_up "\"$version\" is not a release such as 2.28"
# Several build folders may be configured at once.
mkdir -p "$(dirname "$target")"
exec 9>"$target.lock"
flock 9
[ ! -e "$target/libc.so" ] || exit 0
work="$(mktemp -d "$target.XXXXXX")"
trap 'rm -rf "$work"' EXIT
python3 -c 'import ensurepip' 2>/dev/null || give_up "python3 has no ensurepip (apt-get install python3-venv)"
python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q install --require-hashes --only-binary :all: -r "$root/tools/ziglang.txt" || give_up "pip says why above"

# zig builds them for the first program that it links, and keeps them in its cache.
export ZIG_GLOBAL_CACHE_DIR="$work/cache" ZIG_LOCAL_CACHE_DIR="$work/cache"
echo 'int main(void) { return 0; }' >"$work/program.c"
"$work/venv/bin/python" -m ziglang cc -target "$(uname -m)-linux-gnu.$version" -s -pie "$work/program.c" -o "$work/program" ||
  give_up "zig cc says why above"
made() {
  local file
  file="$(find "$work/cache/o" -name "$1" -print -quit)"
  [ -n "$file" ] || give_up "zig made no $1"
  printf '%s\n' "$file"
}
rm -rf "$target"
mkdir -p "$target"
for name in Scrt1.o libc_nonshared.a libc.so.6 libm.so.6 libpthread.so.0 libdl.so.2 libld.so.2; do
  cp "$(made "$name")" "$target/"
done
for name in libm.so.6 libpthread.so.0 libdl.so.2; do ln -s "$name" "$target/${name%.so.*}.so"; done
# Some variables of glibc have several names. A program that has its own copy of one must have it under all of them: else setenv() changes
# what the program does not read. zig gives each name a place of its own; here the second and third are weak names of the first.
same_place='__environ environ _environ
__progname program_invocation_short_name
__progname_full program_invocation_name
__timezone timezone
__daylight daylight
__tzname tzname'
sources="$(dirname "$(made libc.so.6)")"
awk -v groups="$same_place" '
  BEGIN {
    count = split(groups, group, "\n")
    for (i = 1; i <= count; ++i) {
      names = split(group[i], name, " ")
      for (k = 2; k <= names; ++k) first[name[k] "_2_2_5"] = name[1] "_2_2_5"
    }
  }
  $1 == ".globl" && $2 in first { print ".weak " $2; next }
  { label = $1; sub(/:$/, "", label) }
  $1 ~ /:$/ && label in first { print ".set " label ", " first[label]; ++found; next }
  $1 == ".rodata" { print ".section .rodata"; next }
  { print }
  END { exit found == 7 ? 0 : 1 }' "$sources/c.s" >"$work/c.s" || give_up "the names of variables in zig's stubs are not those of ziglang.txt"
rm "$target/libc.so.6"
cc -shared -nostdlib -Wl,-z,notext -Wl,-soname,libc.so.6 "-Wl,--version-script,$sources/all.map" "$work/c.s" -o "$target/libc.so.6" || give_up "cc says why above"
# Last: it says that all is there.
echo 'GROUP ( libc.so.6 libc_nonshared.a AS_NEEDED ( libld.so.2 ) )' >"$work/libc.so"
mv "$work/libc.so" "$target/"
