// SPDX-License-Identifier: Apache-2.0
#include "host/advice/kernel_findings.hpp"

#include "host/advice/hidden_gains.hpp"
#include "host/advice/kernel_caps.hpp"
#include "host/advice/merge_findings.hpp"

#include <utility>

namespace gpuprof::advise {

std::vector<finding> settle_kernel_findings(std::vector<finding> findings, run_facts const& facts) {
  auto shared = share_kernel_caps(std::move(findings), facts);
  take_hidden_gains(shared, facts);
  return merge_findings(std::move(shared));
}

}  // namespace gpuprof::advise
