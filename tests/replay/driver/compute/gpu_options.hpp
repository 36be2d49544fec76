// SPDX-License-Identifier: Apache-2.0
// What a test wants of the fake GPU, from REPLAY_GPU_* variables.
//
//   REPLAY_GPU_CHIP=10.0        compute capability, in place of the recorded one
//   REPLAY_GPU_L2_MIB=2         size of the L2, likewise
//   REPLAY_GPU_SMS=4            likewise
//   REPLAY_GPU_COUNT=2          more GPUs like the first; NVML shows them too
//   REPLAY_GPU_NO_PTX=1         the driver compiles no PTX
//   REPLAY_GPU_FREE_MIB=170     what cuMemGetInfo says is free before anything is allocated
//   REPLAY_GPU_LIMIT_MIB=300    what can be allocated in all
//   REPLAY_GPU_MHZ=1500         the SM clock
//   REPLAY_GPU_NOISE=0.3        every second launch takes longer by this share
//   REPLAY_GPU_FAST=NAME:1.1,...  these kernels, or "copy", run at this share of what they would
//   REPLAY_GPU_WRONG=NAME,...   these kernels, or "copy" when it is large, leave something else
//   REPLAY_GPU_DIFFERS=NAME,... one of their blocks does
//   REPLAY_GPU_FAIL=cuMemAlloc_v2:2=2,cuGraphCreate=801
//                               this call of a function, or every call, returns the code
//   REPLAY_GPU_LOST=cuLaunchKernel:40=719
//                               from this call on all calls do
//   REPLAY_GPU_LEDGER=FILE      at exit, what was not released and what was done wrongly
#pragma once

#include <cuda.h>

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace gpuprof::replay {

struct gpu_options {
  int compute_major = 0, compute_minor = 0, sm_count = 0, l2_mib = 0;  // 0: as recorded
  bool takes_ptx = true;
  double free_mib = 0, limit_mib = 0;  // 0: as much as there is
  double mhz = 1980, noise = 0;
  std::string ledger;

  bool is_wrong(std::string_view kernel) const { return wrong.contains(kernel); }
  bool differs(std::string_view kernel) const { return differing.contains(kernel); }
  /// Of the usual speed.
  double share_of(std::string_view kernel) const {
    auto const found = shares.find(kernel);
    return found == shares.end() ? 1 : found->second;
  }

  std::set<std::string, std::less<>> wrong, differing;
  std::map<std::string, double, std::less<>> shares;
};

gpu_options const& options();

/// The code this call of `function` must return; CUDA_SUCCESS: none. Counts the call.
CUresult forced_result(std::string_view function);

}  // namespace gpuprof::replay
