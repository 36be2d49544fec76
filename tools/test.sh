#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds gpuprof and runs every test that needs no GPU. Installs what is missing (Debian 12, Ubuntu 24.04).
#
#   tools/test.sh            the release build and its tests
#   tools/test.sh ci         the same, the format, unit tests and fuzz inputs under the address sanitizer, and the wheel of the Python package
#                            in one environment: what CI runs for each change
#   tools/test.sh all        everything: also the other sanitized tests, fuzzers, clang-tidy, the programs that read exports, the reference
#                            and what only runs on a GPU is built. CI runs it each night
#   tools/test.sh PART...    parts: release, timing, rest, format, reference, clients, unit_asan, asan, tsan, fuzz, tidy, wheel, package (the
#                            wheel in all environments, the .deb and the tarball), dev (each file is compiled alone and says what it forgot to
#                            include; not in all)
#
# tests/README.md says how long each takes. A test whose verdict depends on the machine's speed has the label timing: it runs alone, after
# all others, and may be tried three times. The run prints which tests needed more than one try.
#
# Exports are opened by the programs that they are for (nsys, HTA, Perfetto, DuckDB, Polars, Spark) in the part clients, which fetches
# them: a gigabyte, from Debian and PyPI. In the part release such tests are skipped, and said to be, unless they were fetched before.
#
# FUZZ_SECONDS: how long each fuzzer runs (20). AHEAD_NICENESS: of what is built while tests wait (19).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib_setup.sh"

parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(release)
is_asked_for() { [[ " ${parts[*]} " == *" $1 "* ]]; }

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

# Names this very tree, changes included; nothing where there is no git.
tree_state() {
  git -C "$root" rev-parse HEAD 2>/dev/null || return 0
  { git -C "$root" diff HEAD && git -C "$root" ls-files -z --others --exclude-standard | (cd "$root" && xargs -0 -r sha1sum); } | sha1sum
}
passed="$root/build/ci/passed_for_tree"
has_passed() { [ -n "$(tree_state)" ] && [ "$(tree_state)" = "$(cat "$passed" 2>/dev/null)" ]; }

# The longest tests wait for sessions to be played and need no core: twice as many at once. Under sanitizers they need one.
part_release() {
  local state
  state="$(tree_state)"
  rm -f "$passed"
  find_disassembler
  build_preset ci -DGPUPROF_BUILD_BENCHMARKS=OFF -DGPUPROF_BUILD_GPU_CHECK=OFF || return 1
  start_ahead
  local except=()
  if is_asked_for clients && has_clients; then except=(-LE clients); fi  # they are tested then
  run_tests ci $((2 * $(nproc))) "${except[@]}" || return 1
  [ "$state" != "$(tree_state)" ] || echo "$state" >"$passed"  # else it was changed meanwhile
}

# Comes after every other part of the release build: nothing else of this script runs beside it.
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

part_rest() {
  stage "Configuring benchmarks and gpu-check" configure_preset ci -DGPUPROF_BUILD_BENCHMARKS=ON -DGPUPROF_BUILD_GPU_CHECK=ON &&
    stage "Building benchmarks and gpu-check" cmake --build "$root/build/ci"
}

# Releases of clang-format differ in what they like. GPU code and the C header are laid out by hand.
part_format() {
  install_packages clang-format-14
  stage "Checking the format" env -C "$root" bash -c \
    "find examples include libgpuprof tests tools \\( -name '*.cpp' -o -name '*.hpp' -o -name '*.c' \\) -print0 |
      xargs -0 clang-format-14 --dry-run --Werror"
}

# Programs that read exports, and the tests that need them: a missing one is a failure here.
clients=(jsonschema parquet perfetto perfetto_ui firefox hta nsys nsys_recipes spark)
has_clients() { grep -q '^ID=debian' /etc/os-release; }

# They come over the network while the processor builds.
start_fetching() {
  has_clients || return 0
  install_packages "${client_packages[@]}"
  mkdir -p "$logs"
  for client in "${clients[@]}"; do
    GPUPROF_FETCH_CLIENTS=yes nice "$root/tests/process/export/clients.sh" "$client" || true  # part_clients says why
  done >"$logs/clients.log" 2>&1 &
}

part_clients() {
  if ! has_clients; then
    say "SKIPPED, clients: nsys and the browsers are had from Debian's archive alone"
    return 0
  fi
  install_packages "${client_packages[@]}"
  export GPUPROF_FETCH_CLIENTS=yes
  local client
  for client in "${clients[@]}"; do
    stage "Fetching $client" "$root/tests/process/export/clients.sh" "$client" || return 1
  done
  build_preset ci &&
    GPUPROF_REQUIRE_CLIENTS=1 stage "Testing exports with the programs that read them" \
      ctest --test-dir "$root/build/ci" -L clients --no-tests=error --output-on-failure -j $((2 * $(nproc)))  # they wait a lot
}

# Where what is not ours could not be fetched, the script says NOT CHECKED and ends with 69: no failure of this tree.
build_wheel() {
  local code=0
  "$root/tools/python/build_wheel.sh" "$@" || code=$?
  [ $code = 0 ] || [ $code = 69 ]
}
part_wheel() { build_wheel --quick; }
part_package() { build_wheel && "$root/tools/build_packages.sh"; }

# All others take several files at a time.
part_dev() { build_preset dev; }

part_tidy() {
  find_clang_tidy && stage "Configuring (tidy)" configure_preset tidy || return 1
  stage "Checking with clang-tidy" python3 "$clang_tidy/run-clang-tidy.py" -clang-tidy-binary "$clang_tidy/clang-tidy" \
    -quiet -hide-progress -j "$(nproc)" -p "$root/build/tidy" "(libgpuprof|tools)/.*[.](cpp|cxx)\$" || {
    say "What it found, each once:"
    grep -aE ': (error|warning): |terminated by signal|Error while processing' "$logs/Checking_with_clang_tidy.log" | sort -u | head -n 60
    return 1
  }
}

# Tests wait for sessions to be played a third of their time. The cores they leave build what the parts after them test, then run
# clang-tidy. What a build says, and how it ended, is in $logs/ahead_NAME and $logs/ahead_NAME.code.
export AHEAD_NICENESS="${AHEAD_NICENESS:-19}"
ahead=()
ahead_job=
part_ahead() {
  local code=0
  "build_$1" >"$logs/ahead_$1" 2>&1 || code=$?
  echo $code >"$logs/ahead_$1.new" && mv "$logs/ahead_$1.new" "$logs/ahead_$1.code"
}
start_ahead() {
  [ ${#ahead[@]} -gt 0 ] || return 0
  local then=()
  if is_asked_for tidy; then then=(tidy); fi
  mkdir -p "$logs"
  rm -f "$logs"/ahead_*
  # Where the kernel shares the cores out by sessions a process's own niceness is nothing to those of others.
  setsid nice -n "$AHEAD_NICENESS" bash -c 'echo "$AHEAD_NICENESS" 2>/dev/null >/proc/self/autogroup; exec "$0" "$@"' \
    "${BASH_SOURCE[0]}" "${ahead[@]/#/ahead_}" "${then[@]}" >"$logs/ahead.log" 2>&1 &
  ahead_job=$!
  trap 'kill -- "-$ahead_job" 2>/dev/null || true' EXIT  # with all it started; a trap that fails would fail the script
}
# built NAME: waits for it where it is built ahead, else builds it.
built() {
  local begin=$SECONDS
  if [ -z "$ahead_job" ]; then
    "build_$1"
    return
  fi
  while [ ! -e "$logs/ahead_$1.code" ] && kill -0 "$ahead_job" 2>/dev/null; do sleep 0.2; done
  cat "$logs/ahead_$1"
  say "Waited $((SECONDS - begin)) s for that."
  [ "$(cat "$logs/ahead_$1.code" 2>/dev/null)" = 0 ]
}
finish_ahead() {
  local code=0
  wait "$ahead_job" || code=$?
  trap - EXIT
  cat "$logs/ahead.log"
  return $code
}

# The reference of the public headers; what has no description is an error.
part_reference() {
  install_packages doxygen
  mkdir -p "$root/build/reference"
  stage "Writing the reference" env -C "$root" doxygen docs/Doxyfile
}

# Unit tests and fuzz inputs alone: the command and what replays sessions take longer to build than these.
build_unit_asan() {
  stage "Configuring (asan)" configure_preset asan -DGPUPROF_BUILD_PEAK_KERNELS=OFF &&
    stage "Building unit tests (asan)" cmake --build "$root/build/asan" --target gpuprof_unit_tests
}
part_unit_asan() { built unit_asan && run_tests asan "$(nproc)" -L '^(unit|fuzz)$'; }

build_asan() { build_preset asan -DGPUPROF_BUILD_PEAK_KERNELS=ON; }
# Programs that read exports gain nothing from sanitizers in ours.
part_asan() { built asan && GPUPROF_CLIENTS="$root/build/no-clients" run_tests asan "$(nproc)"; }

# The library alone: the command, half of the code, has hardly a second thread. Tests use that of the release build.
build_tsan() { build_preset tsan -DGPUPROF_BUILT_COMMAND="$root/build/ci/bin/gpuprof"; }
part_tsan() {
  stage "Configuring (ci)" configure_preset ci && stage "Building the command" cmake --build "$root/build/ci" --target gpuprof_cli &&
    built tsan && run_tests tsan "$(nproc)"
}

# Starts from the stored inputs; what it finds new stays in the build folder.
run_fuzzer() {
  local name found stored program
  name="${1#fuzz_}"
  name="${name%_fuzzer}"
  program="$(find "$root/build/fuzz/tests" -type f -name "$1" -perm -u+x | head -n 1)"
  found="$root/build/fuzz/corpus/$name"
  stored="$root/build/fuzz/tests/fuzz/seeds/$name"
  [ -d "$stored" ] || fail "there are no stored inputs in $stored"
  mkdir -p "$found"
  "$program" -max_total_time="${FUZZ_SECONDS:-20}" -timeout=10 -rss_limit_mb=2048 \
    -artifact_prefix="$root/build/fuzz/$name-" "$found" "$stored"
}

# One a core. Where one fails the ends of all their outputs are shown.
run_fuzzers() {
  local target pids=() code=0
  for target in "$@"; do
    if [ ${#pids[@]} -ge "$(nproc)" ]; then
      wait "${pids[0]}" || code=1
      pids=("${pids[@]:1}")
    fi
    run_fuzzer "$target" >"$logs/$target.log" 2>&1 &
    pids+=($!)
  done
  for target in "${pids[@]}"; do wait "$target" || code=1; done
  [ $code = 0 ] || for target in "$@"; do tail -n 30 "$logs/$target.log"; done
  return $code
}

# Named NAME_fuzzer or fuzz_NAME, with stored inputs in tests/data/fuzz_NAME.tar.gz, which the build unpacks.
fuzzer_targets() {
  ninja -C "$root/build/fuzz" -t targets all | grep -oE '^(fuzz_[a-z0-9_]+|[a-z0-9_]+_fuzzer): phony' |
    cut -d: -f1 | grep -v '^cmake_' | sort -u
}

build_fuzz() {
  local targets
  stage "Configuring (fuzz)" configure_preset fuzz || return 1
  mapfile -t targets < <(fuzzer_targets)
  if [ ${#targets[@]} = 0 ]; then
    say "error: the build has no fuzzers"
    return 1
  fi
  stage "Building (fuzz)" cmake --build "$root/build/fuzz" --target "${targets[@]}"
}
part_fuzz() {
  install_packages clang
  local targets
  built fuzz || return 1
  mapfile -t targets < <(fuzzer_targets)
  stage "Fuzzing with ${targets[*]}" run_fuzzers "${targets[@]}"
}

install_packages "${build_packages[@]}" "${test_packages[@]}"
find_cuda

if [ "${parts[*]}" = release ]; then
  parts=(release timing)
elif [ "${parts[*]}" = ci ]; then
  parts=(release format unit_asan wheel timing)
  ahead=(unit_asan)
elif [ "${parts[*]}" = all ]; then
  parts=(release rest format reference asan tsan fuzz clients tidy package timing)
  if has_passed; then
    say "The release part has passed for this tree."
    parts=("${parts[@]:1}")
  fi
fi
if is_asked_for tidy; then
  for part in asan tsan fuzz; do
    if is_asked_for $part; then ahead+=($part); fi
  done
fi
# Packages come before anything runs beside the tests: two installations at once would wait for each other's lock.
if is_asked_for format; then install_packages clang-format-14; fi
if is_asked_for tidy && [ ${#ahead[@]} -gt 0 ]; then install_packages clang doxygen "${client_packages[@]}"; fi
failed=()
if is_asked_for asan && is_asked_for clients; then start_fetching; fi
is_asked_for release || start_ahead  # else once that is built
for part in "${parts[@]}"; do
  if [ "$part" = tidy ] && [ -n "$ahead_job" ]; then
    finish_ahead || failed+=(tidy)
    continue
  fi
  case "$part" in
    release | timing | rest | format | reference | clients | dev | tidy | unit_asan | asan | tsan | fuzz | wheel | package) "part_$part" || failed+=("$part") ;;
    ahead_*) part_ahead "${part#ahead_}" ;;
    *) fail "unknown part \"$part\". Parts: ci, all, or some of release, timing, rest, format, reference, clients, tidy, unit_asan, asan, tsan, fuzz, wheel, package, dev" ;;
  esac
done
[ ${#failed[@]} = 0 ] || fail "these parts failed: ${failed[*]}"
say "All tests passed in $((SECONDS / 60)) min $((SECONDS % 60)) s."
