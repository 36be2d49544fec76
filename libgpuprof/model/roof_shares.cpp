// SPDX-License-Identifier: Apache-2.0
#include "model/roof_shares.hpp"

namespace gpuprof {

bound_by roof_of(std::size_t index) noexcept {
  if (index == dram_roof) return {bound_by::kind::dram, {}};
  if (index == l2_roof) return {bound_by::kind::l2, {}};
  return {bound_by::kind::compute, static_cast<precision>(index - compute_roofs)};
}

std::string_view name_of(bound_by const& bound) noexcept {
  switch (bound.what) {
    case bound_by::kind::dram:
      return "DRAM";
    case bound_by::kind::l2:
      return "L2";
    case bound_by::kind::compute:
      return name_of(bound.of);
    case bound_by::kind::latency:
      return "latency";
    case bound_by::kind::unknown:
      break;
  }
  return "";
}

std::optional<nearest_roof> highest_share(roof_shares const& shares, bool every_roof) noexcept {
  std::optional<nearest_roof> highest;
  for (std::size_t i = 0; i < roof_count; ++i)
    if (shares[i] && (!highest || *shares[i] > highest->share)) highest = {*shares[i], roof_of(i)};
  if (!highest || highest->share >= latency_bound_below) return highest;
  if (!every_roof) return std::nullopt;  // one that was not looked at may be the one
  highest->bound = {bound_by::kind::latency, {}};
  return highest;
}

}  // namespace gpuprof
