#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds gpuprof and runs every test that needs no GPU. Installs what is missing (Debian 12, Ubuntu 24.04).
#
#   tools/test.sh            the release build and its tests
#   tools/test.sh ci         also the format, unit tests and fuzz inputs under the address sanitizer, the wheel of the Python
#                            package in one environment, and pages in Chromium: CI runs this for each change
#   tools/test.sh all        everything: all tests under sanitizers, fuzzers, clang-tidy, the programs that read exports, the
#                            reference, all packages, and programs for a GPU are built. CI runs this each night
#   tools/test.sh PART...    parts: release, timing, rest, format, reference, pages, clients, unit_asan, asan, tsan, fuzz, tidy, wheel,
#                            package, dev (each file is compiled alone, so that its missing includes are found; not in all)
#
# CMakePresets.json says which tests a part runs, tests/README.md how long it takes. FUZZ_SECONDS: how long each fuzzer runs (20).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib_setup.sh"
parts=("$@")
case "$*" in
  "" | release) parts=(release timing) ;;
  ci) parts=(release format unit_asan wheel pages timing) ;;
  all) parts=(release rest format reference asan tsan fuzz clients tidy package timing) ;;
esac
cores="$(nproc)"

# stage_with_extract NAME PATTERN COMMAND...: where it fails, what its log says about that.
stage_with_extract() {
  stage "$1" "${@:3}" && return 0
  say "What it found:"
  grep -aE -B 4 -A 12 "$2" "$(log_of "$1")" | head -n 120
  return 1
}

# run_tests PRESET JOBS: also names what was skipped, and tests that needed several tries.
run_tests() {
  local log tries name
  log="$(log_of "Testing ($1)")"
  stage_with_extract "Testing ($1)" '^[^ ]+: FAILED:|^(FAIL|ERROR): |\*\*\*(Failed|Timeout)|ERROR: [A-Za-z]*Sanitizer' \
    ctest --preset "$1" -j "$2" || return 1
  grep -E 'tests passed|tests failed' "$log" || true
  { grep -ohsE "skipped ['\"].*" "$(sed -n 's/^Test project //p' "$log")/Testing/Temporary/LastTest.log" || true; } | sort -u
  sed -nE 's/^ +Start +[0-9]+: //p' "$log" | sort | uniq -c | while read -r tries name; do
    [ "$tries" = 1 ] || say "$name needed $tries tries."
  done
}

# Where a file of others could not be fetched, the script says NOT CHECKED and ends with 69: this is no failure of this tree.
build_wheel() { "$root/tools/python/build_wheel.sh" "$@" || [ $? = 69 ]; }

# Releases of clang-format differ in what they like. GPU code and the C header are laid out by hand.
check_format() {
  find examples include libgpuprof tests tools \( -name '*.cpp' -o -name '*.hpp' -o -name '*.c' \) -print0 |
    xargs -0 clang-format-14 --dry-run --Werror
}

run_part() {
  case "$1" in
    release) find_disassembler && build_preset ci -DGPUPROF_BUILD_BENCHMARKS=OFF -DGPUPROF_BUILD_GPU_CHECK=OFF && run_tests ci $((2 * cores)) ;;
    timing) run_tests timing 1 ;;
    rest) build_preset ci -DGPUPROF_BUILD_BENCHMARKS=ON -DGPUPROF_BUILD_GPU_CHECK=ON ;;
    dev) build_preset dev ;;
    format) install_packages clang-format-14 && stage "Checking the format" check_format ;;
    reference) install_packages doxygen && mkdir -p build/reference && stage "Writing the reference" doxygen docs/Doxyfile ;;
    pages)  # in the release part they are skipped
      has_clients || return 0
      install_packages chromium-headless-shell python3-pip
      GPUPROF_FETCH_CLIENTS=yes stage "Fetching what drives Chromium" "$root/tests/process/export/clients.sh" perfetto_ui ||
        { say "NOT CHECKED: pages in a browser"; return 0; }
      build_preset ci -DGPUPROF_BUILD_BENCHMARKS=OFF -DGPUPROF_BUILD_GPU_CHECK=OFF && run_tests pages "$cores" ;;
    clients)  # a program that is missing is a failure here; in the part release its tests are skipped, and named
      has_clients || return 0
      fetch_clients && build_preset ci && run_tests clients $((2 * cores)) ;;
    unit_asan)  # the command, and what replays sessions, take longer to build than these
      build_target asan gpuprof_unit_tests -DGPUPROF_BUILD_PEAK_KERNELS=OFF && run_tests unit-asan "$cores" ;;
    asan) build_preset asan -DGPUPROF_BUILD_PEAK_KERNELS=ON && run_tests asan "$cores" ;;
    tsan)  # the library only: the command, half of the code, hardly has a second thread. Tests use the one of the release build
      build_target ci gpuprof_cli && build_preset tsan -DGPUPROF_BUILT_COMMAND="$root/build/ci/bin/gpuprof" && run_tests tsan "$cores" ;;
    fuzz) install_packages clang && build_target fuzz gpuprof_fuzzers && run_tests fuzz "$cores" ;;
    tidy)
      find_clang_tidy && stage "Configuring (tidy)" configure_preset tidy &&
        stage_with_extract "Checking with clang-tidy" ': (error|warning): |terminated by signal|Error while processing' \
          python3 "$clang_tidy/run-clang-tidy.py" -clang-tidy-binary "$clang_tidy/clang-tidy" -quiet -hide-progress \
          -j "$cores" -p build/tidy "(libgpuprof|tools)/.*[.](cpp|cxx)\$" ;;
    wheel) build_wheel --quick ;;
    package) build_wheel && tools/build_packages.sh ;;
    *) fail "unknown part \"$1\". Parts: ci, all, or some of those that the top of tools/test.sh lists" ;;
  esac
}

cd "$root"
install_packages "${build_packages[@]}" "${test_packages[@]}"
find_cuda
mkdir -p "$logs"
failed=()
for part in "${parts[@]}"; do run_part "$part" || failed+=("$part"); done
[ ${#failed[@]} = 0 ] || fail "these parts failed: ${failed[*]}"
say "All tests passed in $((SECONDS / 60)) min $((SECONDS % 60)) s."
