// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/roofline_row.hpp"

namespace gpuprof::host {

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

}  // namespace gpuprof::host
