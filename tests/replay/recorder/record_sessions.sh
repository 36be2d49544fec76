#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Records the sessions of tests/data/sessions on a machine with an NVIDIA GPU, nvcc and, for the last two, PyTorch and transformers.
#   tests/replay/recorder/record_sessions.sh FOLDER [libgpuprof_recorder.so]
# Each program runs once without the recorder (so that a broken program is seen as such) and once with it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
programs=$here/../programs
out=${1:?usage: record_sessions.sh FOLDER [libgpuprof_recorder.so]}
recorder=${2:+$(realpath "$2")}
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# record NAME KINDS COMMAND...
record() {
  name=$1 kinds=$2
  shift 2
  if ! "$@" >"$work/log" 2>&1; then
    echo "$name: the program itself fails here: $(tail -n 1 "$work/log")" >&2
    failed=1
  elif ! "$here/../record" -k "$kinds" ${recorder:+-l "$recorder"} -o "$out/$name.gprec" -- "$@" >"$work/log" 2>&1; then
    echo "$name: recording failed:" >&2
    cat "$work/log" >&2
    failed=1
  else
    grep -h 'gpuprof\|gprec' "$work/log"
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
  if python3 -c 'import transformers' 2>/dev/null; then
    cp "$programs/gpt2_steps.py" .
    record gpt2_steps kernel,memcpy,memset,sync python3 gpt2_steps.py
  else
    echo "gpt2_steps: skipped, python3 here has no package transformers" >&2
  fi
else
  echo "train_step: skipped, python3 here has no PyTorch with a GPU" >&2
fi
exit $failed
