// SPDX-License-Identifier: Apache-2.0
// What a test wants of the fake GPU, from the REPLAY_GPU_* variables that driver/README.md lists.
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
