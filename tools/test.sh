#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds gpuprof and runs every test that needs no GPU. Installs what is missing (Debian 12, Ubuntu 24.04).
#
#   tools/test.sh            the release build and its tests
#   tools/test.sh ci         also the format, unit tests and fuzz inputs under the address sanitizer, and the wheel of the Python
#                            package in one environment: CI runs this for each change
#   tools/test.sh all        everything: all tests under sanitizers, fuzzers, clang-tidy, the programs that read exports, the
#                            reference, all packages, and programs for a GPU are built. CI runs this each night
#   tools/test.sh PART...    parts: release, timing, rest, format, reference, clients, unit_asan, asan, tsan, fuzz, tidy, wheel,
#                            package, dev (each file is compiled alone, so that its missing includes are found; not in all)
#
# tests/README.md says how long each takes. A test whose verdict depends on the machine's speed has the label timing: it runs alone,
# after all others, and may be tried three times. FUZZ_SECONDS: how long each fuzzer runs (20).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib_setup.sh"

parts=("$@")
case "$*" in
  "" | release) parts=(release timing) ;;
  ci) parts=(release format unit_asan wheel timing) ;;
  all) parts=(release rest format reference asan tsan fuzz clients tidy package timing) ;;
esac

# run_tests PRESET JOBS [OPTION...]: all tests but those of timing.
run_tests() {
  local preset="$1" log="$logs/Testing__$1_.log"
  stage "Testing ($preset)" env -C "$root" ctest --preset "$preset" -LE '^timing$' -j "${@:2}" || {
    say "What failed, from the whole output:"
    grep -aE -B 4 -A 12 '^[^ ]+: FAILED:|^(FAIL|ERROR): |\*\*\*(Failed|Timeout)|ERROR: [A-Za-z]*Sanitizer' "$log" | head -n 120
    return 1
  }
  grep -E 'tests passed|tests failed' "$log" || true
  { grep -ohE "skipped ['\"].*" "$root/build/$preset/Testing/Temporary/LastTest.log" || true; } | sort -u
}

# Tests wait for sessions that are played, so twice as many run as there are cores, and the next build runs beside them.
unit_asan_build=
part_release() {
  find_disassembler
  build_preset ci -DGPUPROF_BUILD_BENCHMARKS=OFF -DGPUPROF_BUILD_GPU_CHECK=OFF || return 1
  if [[ " ${parts[*]} " == *" unit_asan "* ]]; then
    # If the kernel shares the cores out by sessions, a process is only nice to others of its own session.
    setsid nice -n 19 bash -c 'echo 19 2>/dev/null >/proc/self/autogroup; exec "$0" unit_asan_build' "$root/tools/test.sh" >"$logs/unit_asan_build" 2>&1 &
    unit_asan_build=$!
  fi
  run_tests ci $((2 * $(nproc)))
}

part_timing() {
  local log="$logs/Testing_what_depends_on_timing.log" name tries
  stage "Testing what depends on timing" env -C "$root" ctest --preset ci -L '^timing$' -j 1 --repeat until-pass:3 || {
    grep -aE -B 4 -A 12 '^(FAIL|ERROR): |FAILED:|\*\*\*(Failed|Timeout)' "$log" | head -n 120
    return 1
  }
  grep -E 'tests passed|tests failed' "$log" || true
  sed -nE 's/^ +Start +[0-9]+: //p' "$log" | sort | uniq -c | while read -r tries name; do
    [ "$tries" = 1 ] || say "$name needed $tries tries."
  done
}

part_rest() { build_preset ci -DGPUPROF_BUILD_BENCHMARKS=ON -DGPUPROF_BUILD_GPU_CHECK=ON; }
part_dev() { build_preset dev; }

# Releases of clang-format differ in what they like. GPU code and the C header are laid out by hand.
part_format() {
  install_packages clang-format-14
  stage "Checking the format" env -C "$root" bash -c \
    "find examples include libgpuprof tests tools \\( -name '*.cpp' -o -name '*.hpp' -o -name '*.c' \\) -print0 |
      xargs -0 clang-format-14 --dry-run --Werror"
}

# The reference of the public headers; what has no description is an error.
part_reference() {
  install_packages doxygen
  mkdir -p "$root/build/reference"
  stage "Writing the reference" env -C "$root" doxygen docs/Doxyfile
}

# A program that is missing here is a failure; in the part release its tests are skipped, and said to be.
part_clients() {
  local client
  grep -q '^ID=debian' /etc/os-release || { say "SKIPPED, clients: nsys and the browsers come from Debian's archive"; return 0; }
  install_packages "${client_packages[@]}"
  export GPUPROF_FETCH_CLIENTS=yes
  for client in jsonschema parquet perfetto perfetto_ui firefox hta nsys nsys_recipes spark; do
    stage "Fetching $client" "$root/tests/process/export/clients.sh" "$client" || return 1
  done
  build_preset ci && GPUPROF_REQUIRE_CLIENTS=1 stage "Testing exports with the programs that read them" \
    ctest --test-dir "$root/build/ci" -L clients --no-tests=error --output-on-failure -j $((2 * $(nproc)))
}

# Unit tests and fuzz inputs only: the command, and what replays sessions, take longer to build than these.
build_unit_asan() {
  stage "Configuring (asan)" configure_preset asan -DGPUPROF_BUILD_PEAK_KERNELS=OFF &&
    stage "Building unit tests (asan)" cmake --build "$root/build/asan" --target gpuprof_unit_tests
}
part_unit_asan() {
  local code=0
  if [ -n "$unit_asan_build" ]; then
    wait "$unit_asan_build" || code=$?
    cat "$logs/unit_asan_build"
  else
    build_unit_asan || code=$?
  fi
  [ $code = 0 ] && run_tests asan "$(nproc)" -L '^(unit|fuzz)$'
}
part_asan() {
  build_preset asan -DGPUPROF_BUILD_PEAK_KERNELS=ON &&
    GPUPROF_CLIENTS="$root/build/no-clients" run_tests asan "$(nproc)"  # programs that read exports find nothing of ours here
}

# The library only: the command, half of the code, hardly has a second thread. Tests use the one of the release build.
part_tsan() {
  stage "Configuring (ci)" configure_preset ci && stage "Building the command" cmake --build "$root/build/ci" --target gpuprof_cli &&
    build_preset tsan -DGPUPROF_BUILT_COMMAND="$root/build/ci/bin/gpuprof" && run_tests tsan "$(nproc)"
}

# run_fuzzer TARGET: starts from the stored inputs of tests/data/fuzz_NAME.tar.gz, which the build unpacks. What it finds new stays in
# the build folder.
run_fuzzer() {
  local name="${1#fuzz_}" build="$root/build/fuzz"
  name="${name%_fuzzer}"
  mkdir -p "$build/corpus/$name"
  "$(find "$build/tests" -type f -name "$1" -perm -u+x | head -n 1)" -max_total_time="${FUZZ_SECONDS:-20}" -timeout=10 \
    -rss_limit_mb=2048 -artifact_prefix="$build/$name-" "$build/corpus/$name" "$build/tests/fuzz/seeds/$name" >"$logs/$1.log" 2>&1 ||
    { tail -n 30 "$logs/$1.log"; return 1; }
}
part_fuzz() {
  local targets
  install_packages clang
  stage "Configuring (fuzz)" configure_preset fuzz || return 1
  targets="$(ninja -C "$root/build/fuzz" -t targets all | grep -oE '^(fuzz_[a-z0-9_]+|[a-z0-9_]+_fuzzer): phony' | cut -d: -f1 |
    grep -v '^cmake_' | sort -u)"
  [ -n "$targets" ] || fail "the build has no fuzzers"
  # shellcheck disable=SC2086
  stage "Building (fuzz)" cmake --build "$root/build/fuzz" --target $targets || return 1
  export -f run_fuzzer
  export root logs
  stage "Fuzzing" bash -c 'xargs -P "$(nproc)" -n 1 bash -c "run_fuzzer \"\$0\"" <<<"$0"' "$targets"
}

part_tidy() {
  find_clang_tidy && stage "Configuring (tidy)" configure_preset tidy || return 1
  stage "Checking with clang-tidy" python3 "$clang_tidy/run-clang-tidy.py" -clang-tidy-binary "$clang_tidy/clang-tidy" \
    -quiet -hide-progress -j "$(nproc)" -p "$root/build/tidy" "(libgpuprof|tools)/.*[.](cpp|cxx)\$" || {
    say "What it found, each once:"
    grep -aE ': (error|warning): |terminated by signal|Error while processing' "$logs/Checking_with_clang_tidy.log" | sort -u | head -n 60
    return 1
  }
}

# Where a file of others could not be fetched, the script says NOT CHECKED and ends with 69: this is no failure of this tree.
build_wheel() {
  local code=0
  "$root/tools/python/build_wheel.sh" "$@" || code=$?
  [ $code = 0 ] || [ $code = 69 ]
}
part_wheel() { build_wheel --quick; }
part_package() { build_wheel && "$root/tools/build_packages.sh"; }

install_packages "${build_packages[@]}" "${test_packages[@]}"
find_cuda
mkdir -p "$logs"
trap '[ -z "$unit_asan_build" ] || kill -- "-$unit_asan_build" 2>/dev/null || true' EXIT
failed=()
if [ "$*" = unit_asan_build ]; then  # called by the part release
  build_unit_asan
  exit
fi
for part in "${parts[@]}"; do
  case "$part" in
    release | timing | rest | format | reference | clients | dev | tidy | unit_asan | asan | tsan | fuzz | wheel | package) "part_$part" || failed+=("$part") ;;
    *) fail "unknown part \"$part\". Parts: ci, all, or some of release, timing, rest, format, reference, clients, tidy, unit_asan, asan, tsan, fuzz, wheel, package, dev" ;;
  esac
done
[ ${#failed[@]} = 0 ] || fail "these parts failed: ${failed[*]}"
say "All tests passed in $((SECONDS / 60)) min $((SECONDS % 60)) s."
