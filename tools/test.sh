#!/usr/bin/env bash
# Builds gpuprof and runs every test that needs no GPU: release, then under each sanitizer, then the
# fuzzers. Installs what is missing (Debian 12, Ubuntu 24.04).
#
#   tools/test.sh            everything
#   tools/test.sh release    one part: release, asan, tsan, fuzz
#
# FUZZ_SECONDS: how long each fuzzer runs (20).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib_setup.sh"

run_tests() {
  local preset="$1"
  stage "Testing ($preset)" env -C "$root" ctest --preset "$preset" \
    -j "$(nproc)" || return 1
  grep -E 'tests passed|tests failed' "$logs/Testing__${preset}_.log" || true
}

part_release() {
  find_disassembler
  build_preset ci && run_tests ci
}
part_asan() { build_preset asan && run_tests asan; }
part_tsan() { build_preset tsan && run_tests tsan; }

# Starts from the stored inputs; what it finds new stays in the build folder.
run_fuzzer() {
  local name found stored program
  name="${1#fuzz_}"
  name="${name%_fuzzer}"
  program="$(find "$root/build/fuzz/tests" -type f -name "$1" -perm -u+x | head -n 1)"
  found="$root/build/fuzz/corpus/$name"
  stored="$root/tests/data/fuzz_$name"
  [ -d "$stored" ] || fail "there are no stored inputs in $stored"
  mkdir -p "$found"
  "$program" -max_total_time="${FUZZ_SECONDS:-20}" -timeout=10 -rss_limit_mb=2048 \
    -artifact_prefix="$root/build/fuzz/$name-" "$found" "$stored"
}

# Named NAME_fuzzer or fuzz_NAME, with stored inputs in tests/data/fuzz_NAME.
fuzzer_targets() {
  ninja -C "$root/build/fuzz" -t targets all | grep -oE '^(fuzz_[a-z0-9_]+|[a-z0-9_]+_fuzzer): phony' |
    cut -d: -f1 | grep -v '^cmake_' | sort -u
}

part_fuzz() {
  if ! command -v clang++ >/dev/null; then
    say "Fuzzing is skipped: there is no clang++."
    return 0
  fi
  stage "Configuring (fuzz)" configure_preset fuzz || return 1
  local targets target
  mapfile -t targets < <(fuzzer_targets)
  [ ${#targets[@]} -gt 0 ] || fail "the build has no fuzzers"
  stage "Building (fuzz)" cmake --build "$root/build/fuzz" --target "${targets[@]}" || return 1
  for target in "${targets[@]}"; do
    stage "Fuzzing with $target" run_fuzzer "$target" || return 1
  done
}

install_packages "${build_packages[@]}" clang
find_cuda

parts=("$@")
[ ${#parts[@]} = 0 ] && parts=(release asan tsan fuzz)
failed=()
for part in "${parts[@]}"; do
  case "$part" in
    release | asan | tsan | fuzz) "part_$part" || failed+=("$part") ;;
    *) fail "unknown part \"$part\". Parts: release, asan, tsan, fuzz" ;;
  esac
done
[ ${#failed[@]} = 0 ] || fail "these parts failed: ${failed[*]}"
say "All tests passed in $((SECONDS / 60)) min $((SECONDS % 60)) s."
