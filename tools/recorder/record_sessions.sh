#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Records the sessions of tests/data/sessions on a machine with an NVIDIA GPU, nvcc and (for the last one) PyTorch.
#   tools/recorder/record_sessions.sh FOLDER [libgpuprof_recorder.so]
# Each program runs once without the recorder (so that a broken program is seen as such) and once with it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
programs=$here/../../tests/replay/programs
out=${1:?usage: record_sessions.sh FOLDER [libgpuprof_recorder.so]}
recorder=${2:-$(find "$here/../../build" "$here/../../lib" -name libgpuprof_recorder.so 2>/dev/null | head -n 1)}
[ -f "$recorder" ] || { echo "record_sessions.sh: libgpuprof_recorder.so is not built; name it as second argument" >&2; exit 2; }
recorder=$(cd "$(dirname "$recorder")" && pwd)/$(basename "$recorder")
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
largest=204800  # bytes; sessions live in the repository
failed=0
export GPUPROF_RECORD_HOST=${GPUPROF_RECORD_HOST:-gpu-machine}

# record NAME KINDS COMMAND...
record() {
  name=$1 kinds=$2
  shift 2
  if ! "$@" >"$work/log" 2>&1; then
    echo "$name: the program itself fails here: $(tail -n 1 "$work/log")" >&2
    failed=1
    return 0
  fi
  rm -f "$out/$name.gprec"
  if ! LD_PRELOAD=$recorder GPUPROF_RECORD_KINDS=$kinds GPUPROF_RECORD_OUTPUT=$out/$name.gprec "$@" >"$work/log" 2>&1 ||
     [ ! -s "$out/$name.gprec" ]; then
    echo "$name: recording failed:" >&2
    cat "$work/log" >&2
    failed=1
    return 0
  fi
  grep -h 'gpuprof' "$work/log" || true
  size=$(stat -c %s "$out/$name.gprec")
  echo "$name.gprec: $size bytes"
  if [ "$size" -gt "$largest" ]; then
    echo "$name: larger than $largest bytes; record fewer kinds" >&2
    failed=1
  fi
}

for program in launch_loop copies_streams graph threads_nvtx; do
  nvcc -arch="${GPUPROF_RECORD_ARCH:-native}" -std=c++17 -O2 -o "$work/$program" "$programs/$program.cu" -ldl -lpthread
done
cd "$work"
all=kernel,memcpy,memset,runtime,driver,sync,memory
record launch_loop "$all" ./launch_loop
record copies_streams "$all" ./copies_streams
record graph "$all" ./graph
record threads_nvtx "$all" ./threads_nvtx
if python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
  cp "$programs/train_step.py" .
  record train_step kernel,memcpy,memset,sync,runtime python3 train_step.py
else
  echo "train_step: skipped, python3 here has no PyTorch with a GPU" >&2
fi
exit $failed
