// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/roofline_row.hpp"

#include <algorithm>

namespace gpuprof::host {

std::optional<precision> roofline_row::main_precision() const noexcept {
  std::optional<std::size_t> best;
  for (std::size_t p = 0; p < precision_count; ++p)
    if (flops[p].value_or(0) > 0 && (!best || *flops[p] > *flops[*best])) best = p;
  if (!best) return std::nullopt;
  return static_cast<precision>(*best);
}

void roofline_row::lasts(double ns) noexcept {
  if (ns > 0) elapsed_ns = std::max(ns * static_cast<double>(gpus), total_ns);
}

std::optional<double> roofline_row::model_utilization() const noexcept {
  auto const is_known = declared_flop > 0 || known_share >= least_known_of_utilization;
  if (!is_known || !peak_flops || !(elapsed_ns > 0)) return std::nullopt;
  auto const of_model =
      declared_flop > 0 ? declared_flop : flop_of[static_cast<std::size_t>(*main_precision())];
  return of_model / elapsed_ns * 1e9 / *peak_flops;
}

std::optional<double> roofline_row::hardware_utilization() const noexcept {
  if (known_share < least_known_of_utilization || !peak_flops || !(elapsed_ns > 0))
    return std::nullopt;
  return flop / elapsed_ns * 1e9 / *peak_flops;
}

bool roofline_row::model_flop_are_limit() const noexcept {
  auto const in = main_precision();
  return flops_are_limit && !(declared_flop > 0) && in && *in < precision::tensor_fp64;
}

workload_figures::errors workload_figures::error_of(precision p) const noexcept {
  if (cycles_flop && p == cycles_precision) return {cycles_error, cycles_bias, cycles_bias};
  if (!fma_flop || !(*fma_flop > 0) || (p != precision::fp32 && p != precision::fp16)) return {};
  auto const part = flop[p].value_or(0) / *fma_flop;
  return {fma_error * part, fma_below * part, fma_above * part};
}

workload_figures::errors workload_figures::flop_error() const noexcept {
  if (cycles_flop) return {cycles_error, cycles_bias, cycles_bias};
  if (fma_flop) return {fma_error, fma_below, fma_above};
  return {};
}

}  // namespace gpuprof::host
