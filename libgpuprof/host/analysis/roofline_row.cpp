// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/roofline_row.hpp"

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

std::string_view name_of(flop_source source) noexcept {
  switch (source) {
    case flop_source::counted:
      return "counted";
    case flop_source::tensor_counted:
      return "tensor counted";
    case flop_source::sampled:
      return "sampled";
    case flop_source::tensor_cycles:
      return "tensor cycles";
    case flop_source::machine_code:
      return "machine code";
    case flop_source::declared:
      return "declared";
    case flop_source::not_measured:
      break;
  }
  return "not measured";
}

workload_figures::errors workload_figures::error_of(precision p) const noexcept {
  if (cycles_flop && p == cycles_precision) return {cycles_error, 0, 0};
  if (!fma_flop || !(*fma_flop > 0) || (p != precision::fp32 && p != precision::fp16)) return {};
  auto const part = flop[p].value_or(0) / *fma_flop;
  return {fma_error * part, fma_below * part, fma_above * part};
}

workload_figures::errors workload_figures::flop_error() const noexcept {
  if (cycles_flop) return {cycles_error, 0, 0};
  if (fma_flop) return {fma_error, fma_below, fma_above};
  return {};
}

}  // namespace gpuprof
