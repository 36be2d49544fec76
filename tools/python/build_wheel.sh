#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the wheel of the Python package libgpuprof for glibc 2.28 and newer, from a fresh clone, and tries it. Installs what is missing
# (Debian 12, Ubuntu 24.04).
#
#   tools/python/build_wheel.sh [FOLDER]          the wheel in FOLDER (build/wheelhouse), tried with every CPython that is found
#   tools/python/build_wheel.sh --quick [FOLDER]  tried with one CPython, without uv and pipx, which come over the network
#
# PYTHONS="FILE..." names more interpreters. Exit status 69: what is not ours could not be fetched, so nothing was built or not all tried.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib_setup.sh"

quick=
if [ "${1:-}" = --quick ]; then
  quick=yes
  shift
fi
out="${1:-$root/build/wheelhouse}"
tools="$root/build/tools/wheel"
max_bytes=10000000

# not_ours TEXT: the network failed, no wheel of ours.
not_ours() {
  printf 'NOT CHECKED: %s\n' "$1" >&2
  exit 69
}

tools_from_pypi() {
  rm -rf "$tools"
  python3 -m venv "$tools" &&
    "$tools/bin/pip" -q install --require-hashes --only-binary :all: -r "$root/tools/python/wheel_tools.txt" &&
    cp "$root/tools/python/wheel_tools.txt" "$tools/"  # last: now it is whole
}

stubs_are_there() { fetch_missing && "$root/tools/fetch_glibc_stubs.sh" 2.28; }

# The names by which CMake calls the compilers elsewhere: the compiler cache knows what they compiled.
build() {
  rm -rf "$root/build/wheel-raw"
  env CC="${CC:-cc}" CXX="${CXX:-c++}" "$tools/bin/python" -m build -w --no-isolation -o "$root/build/wheel-raw" "$root/tools/python"
}

# A wheel that needs something newer is refused here; one with libraries of the machine inside has other names than ours.
repair() {
  mkdir -p "$out"
  rm -f "$out"/libgpuprof-*.whl
  PATH="$tools/bin:$PATH" "$tools/bin/auditwheel" repair -z 9 --plat manylinux_2_28_x86_64 -w "$out" "$root"/build/wheel-raw/*.whl &&
    if python3 -m zipfile -l "$(echo "$out"/libgpuprof-*.whl)" | grep -F '.libs/'; then
      say "error: auditwheel has put libraries of this machine into the wheel"
      return 1
    fi
}

# The same format in 3 % fewer bytes than zlib makes of it.
pack_tighter() { advzip -z -4 -i 1 "$out"/libgpuprof-*.whl && python3 -m zipfile -t "$(echo "$out"/libgpuprof-*.whl)"; }

# Every CPython of this machine from 3.9 on: in PATH, of pyenv, and those named.
pythons() {
  local file
  for file in ${PYTHONS:-} $(compgen -c python3. | grep -xE 'python3\.[0-9]+' | sort -u -V) "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3; do
    file="$(command -v "$file" || true)"
    [ -n "$file" ] && "$file" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 9))' 2>/dev/null || continue
    "$file" -c 'import sys; print(*sys.version_info[:2], sys.implementation.name, sys.executable)'
  done | sort -k1,1n -k2,2n -u | awk '{ print $4 }'
}

# With names of files that lie here, so that pip needs no network.
try_wheel() {
  local wheel found
  wheel="$(echo "$out"/libgpuprof-*.whl)"
  mapfile -t found < <(pythons)
  [ -z "$quick" ] || found=("$(command -v python3)")
  PLAY="${PLAY:-$root/build/ci/tests/replay/gpuprof-play}" QUICK="$quick" \
    python3 "$root/tests/package/try_wheel.py" "$wheel" "$tools" "${found[@]}"
}

# With versions of CPython, and a C library, that this machine does not have.
on_debian() {
  local suite="$1" wheel
  wheel="$(echo "$out"/libgpuprof-*.whl)"
  shift
  PLAY= QUICK=yes "$root/tests/package/on_debian.sh" "$suite" python3 "$root/tests/package/try_wheel.py" "$wheel" "$tools" "$@"
}
try_on_debian() {
  local code=0 line="Trying the wheel on Debian $1"
  stage "$line" on_debian "$@" || code=$?
  if grep -q "^Debian $1 is not at hand" "$logs/${line// /_}.log"; then
    say "NOT CHECKED: the wheel on Debian $1; see above"
  elif [ $code != 0 ]; then
    fail "the wheel does not work on Debian $1"
  fi
}

if command -v dpkg-query >/dev/null; then install_packages "${build_packages[@]}" python3-dev advancecomp; fi
find_cuda
if ! cmp -s "$root/tools/python/wheel_tools.txt" "$tools/wheel_tools.txt"; then
  stage "Fetching what builds wheels from PyPI" tools_from_pypi || not_ours "the wheel; its tools could not be fetched from PyPI, see above"
fi
stage "Stub libraries of glibc 2.28" stubs_are_there || not_ours "the wheel; its stub libraries could not be made, see above"
stage "Building the wheel" build || fail "the wheel was not built"
stage "Checking what it needs (auditwheel)" repair || fail "the wheel does not run with glibc 2.28"
stage "Packing it tighter (advzip)" pack_tighter || fail "the wheel was not packed again"
wheel="$(echo "$out"/libgpuprof-*.whl)"
size="$(stat -c %s "$wheel")"
[ "$size" -le "$max_bytes" ] || fail "the wheel has $size bytes, more than $max_bytes"
rm -f "$logs"/Trying_the_wheel*.log
stage "Trying the wheel" try_wheel || fail "the wheel does not work"
if [ -z "$quick" ]; then
  try_on_debian testing /usr/bin/python3.14 /usr/bin/python3.15
  try_on_debian bullseye  # its Python is too old for the package, its glibc is not
fi
grep -ohE "Python [0-9.]+: import.*|glibc [0-9.]+: .*|(uvx|pipx) .* works|skipped: .*|test_[a-z_]+ .*skipped 'there is .*" "$logs"/Trying_the_wheel*.log || true
say "$wheel ($((size / 1000)) kB)"
