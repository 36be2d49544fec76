#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds gpuprof, profiles an example and prints its kernels. Installs what is missing (Debian 12,
# Ubuntu 24.04). Without a GPU it plays a session recorded on an H200 through the same library.
#
#   tools/quickstart.sh [SESSION]    SESSION: the recorded session to play, with or without a GPU
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib_setup.sh"

build="$root/build/release"
capture="$root/build/quickstart.gpuprof"
session="${1:-$root/tests/data/sessions/train_step.gprec}"
play=yes
if has_gpu && [ $# = 0 ]; then play=no; fi

if [ $play = no ]; then
  say "Profiling examples/gemm_ranges on this machine's GPU."
  targets=(gpuprof gpuprof_preload gpuprof_cli example_gemm_ranges)
else
  if [ $# = 0 ]; then
    say "There is no GPU here: this plays a session recorded on an NVIDIA H200 through the same libgpuprof.so."
  else
    say "No GPU is used: this plays the recorded session $1 through the same libgpuprof.so."
  fi
  [ -f "$session" ] || fail "there is no recorded session $session"
  targets=(gpuprof gpuprof_preload gpuprof_cli gpuprof-play)
fi

install_packages "${build_packages[@]}"
find_cuda
if [ $play = no ] && ! command -v "${CUDACXX:-nvcc}" >/dev/null; then
  fail "the example takes nvcc to build, 12.0 or newer. Install the CUDA toolkit (https://developer.nvidia.com/cuda-downloads, package cuda-toolkit-13-0)"
fi
# Code for a GPU takes a third of the time, and nothing here would run it.
gpu_code=ON
if [ $play = yes ]; then gpu_code=OFF; fi
stage "Configuring" configure_preset release -DGPUPROF_BUILD_PEAK_KERNELS=$gpu_code -DGPUPROF_BUILD_EXAMPLES=$gpu_code \
  -DGPUPROF_BUILD_GPU_CHECK=$gpu_code
stage "Building" cmake --build "$build" --target "${targets[@]}"

if [ $play = no ]; then
  program=("$build/examples/example_gemm_ranges")
else
  program=("$build/tests/replay/gpuprof-play" "$session")
fi
stage "Profiling" "$build/bin/gpuprof" profile -f -o "$capture" -- "${program[@]}"
[ -s "$capture" ] || fail "no capture was written; the output is in $logs/Profiling.log"
"$build/bin/gpuprof" stats -r cuda_gpu_kern_sum:base --limit 20 "$capture"
say ""
say "The capture: $capture"
say "More reports: $build/bin/gpuprof stats $capture"
