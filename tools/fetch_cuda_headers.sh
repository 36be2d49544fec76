#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches the CUDA headers that gpuprof is built against, and the libcupti of that release, from PyPI. A build takes
# them from build/cuda-headers if there is no toolkit of that release.
#
#   tools/fetch_cuda_headers.sh [FOLDER]
set -euo pipefail

target="${1:-$(dirname "$0")/../build/cuda-headers}" release='13.0.*'

give_up() {
  printf '%s\n' "The headers of CUDA $release could not be fetched from PyPI: $1. Without them gpuprof cannot be built." \
    "Set GPUPROF_CUDA_HEADERS to a folder that has them as include/, such as a CUDA 13.0 toolkit." >&2
  exit 1
}

# Several build folders may be configured at once.
mkdir -p "$(dirname "$target")"
exec 9>"$target.lock"
flock 9
[ ! -e "$target/include/cuda.h" ] || exit 0
rm -rf "$target"
mkdir -p "$target/bin"
python3 -c 'import ensurepip' 2>/dev/null || give_up "python3 has no ensurepip (apt-get install python3-venv)"
python3 -m venv "$target/venv"
"$target/venv/bin/pip" -q install --no-deps "nvidia-cuda-cupti==$release" "nvidia-cuda-runtime==$release" \
  "nvidia-cuda-crt==$release" "nvidia-nvtx==$release" || give_up "pip says why above"

packages="$(echo "$target"/venv/lib/python3*/site-packages/nvidia/cu13)"
[ -e "$packages/include/cuda.h" ] || give_up "the packages hold no cuda.h"
ln -s "$packages/lib" "$target/lib64"
ln -sf libcudart.so.13 "$packages/lib/libcudart.so"
ln -sf libcupti.so.13 "$packages/lib/libcupti.so"
# find_package(CUDAToolkit) reads the version here when there is no nvcc.
echo 'CUDA Version 13.0.0' >"$target/version.txt"
ln -s "$packages/include" "$target/include"  # last: it says that all is there
