#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the .deb and the tarball for glibc 2.28 and newer, and checks them: lintian, the links of all pages, and the command with the C
# library of Debian 11. Installs what is missing (Debian 12, Ubuntu 24.04).
#
#   tools/build_packages.sh [FOLDER]    FOLDER: build/packages-made
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib_setup.sh"

out="${1:-$root/build/packages-made}"

make_packages() {
  cmake --build "$root/build/packages" && rm -rf "$out" && mkdir -p "$out" && (cd "$root/build/packages" && cpack -B "$out") && rm -rf "$out/_CPack_Packages"
}

# Users of lintian may not be root; the package's owner is set by CPack.
check_with_lintian() { lintian --allow-root --fail-on error "$out"/gpuprof_*.deb; }

check_contents() {
  local found
  unpacked="$(mktemp -d)"
  trap 'rm -rf "$unpacked"' RETURN
  mkdir "$unpacked/deb" "$unpacked/tar"
  dpkg-deb -x "$(echo "$out"/gpuprof_*.deb)" "$unpacked/deb"
  tar -xzf "$(echo "$out"/gpuprof-*.tar.gz)" -C "$unpacked/tar" --strip-components 1
  for found in "$unpacked/deb/usr" "$unpacked/tar"; do
    PYTHONPATH="$root/tests/package" python3 -c 'import check_package, pathlib, sys; check_package.check_links(pathlib.Path(sys.argv[1]))' \
      "$found/share/doc/gpuprof" || return 1
    python3 "$root/tests/package/check_glibc.py" 2.28 "$found"/bin/gpuprof "$found"/lib/libgpuprof*.so \
      "$found"/libexec/gpuprof/demo/{play-session,libgpuprof-demo.so} || return 1
    [ "$("$found/bin/gpuprof" --library)" = "$found/lib/libgpuprof_preload.so" ] || return 1
    "$root/tests/package/on_debian.sh" bullseye "$found/bin/gpuprof" --version || [ $? = 77 ] || return 1
    "$found/bin/gpuprof" demo -o "$unpacked/demo" --force-overwrite || return 1
  done
}

install_packages "${build_packages[@]}" lintian
find_cuda
stage "Fetching the stub libraries of glibc 2.28" "$root/tools/fetch_glibc_stubs.sh" 2.28 || fail "see above"
stage "Configuring (packages)" configure_preset release -B build/packages -DGPUPROF_GLIBC=2.28 -DCMAKE_INSTALL_LIBDIR=lib \
  -DGPUPROF_BUILD_TESTS=OFF -DGPUPROF_BUILD_EXAMPLES=OFF -DGPUPROF_BUILD_GPU_CHECK=OFF -DGPUPROF_PYARROW=none || fail "see above"
stage "Building the packages" make_packages || fail "the packages were not made"
stage "Checking with lintian" check_with_lintian || fail "lintian finds errors in the package"
stage "Checking what they hold" check_contents || fail "a package does not hold what it should"
! grep -q 'is not at hand' "$logs/Checking_what_they_hold.log" || say "NOT CHECKED: the packages on Debian 11; see $logs/Checking_what_they_hold.log"
ls -l "$out"
