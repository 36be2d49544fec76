#!/usr/bin/env bash
# Builds gpuprof, profiles an example and prints its kernels. Installs what is missing (Debian 12,
# Ubuntu 24.04). Without a GPU it plays a session recorded on an H200 through the same library.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib_setup.sh"

build="$root/build/release"
capture="$root/build/quickstart.gpuprof"
session="$root/tests/data/sessions/train_step.gprec"

if has_gpu; then
  say "Profiling examples/gemm_ranges on this machine's GPU."
  targets=(gpuprof gpuprof_cli example_gemm_ranges)
else
  say "There is no GPU here: this plays a session recorded on an NVIDIA H200 through the same libgpuprof.so."
  targets=(gpuprof gpuprof_cli gpuprof-play)
fi

install_packages "${build_packages[@]}"
find_cuda
stage "Configuring" configure_preset release
stage "Building" cmake --build "$build" --target "${targets[@]}"

if has_gpu; then
  program=("$build/examples/example_gemm_ranges")
else
  program=("$build/tests/replay/gpuprof-play" "$session")
fi
stage "Profiling" "$build/bin/gpuprof" profile -f -o "$capture" -- "${program[@]}"
[ -s "$capture" ] || fail "no capture was written; the output is in $logs/Profiling.log"
"$build/bin/gpuprof" stats -r cuda_gpu_kern_sum "$capture"
say ""
say "The capture: $capture"
say "More reports: $build/bin/gpuprof stats $capture"
