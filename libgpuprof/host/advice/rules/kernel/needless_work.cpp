// SPDX-License-Identifier: Apache-2.0
// Rules on needless arithmetic: double precision on GPUs that are slow at it, padding.
#include "host/advice/rules/kernel/kernel_view.hpp"
#include "host/advice/wording.hpp"

#include <algorithm>

namespace gpuprof::host::advice {
namespace {

constexpr double slow_fp64 = 1. / 8;      // of the FP32 peak
constexpr double noticeable_fp64 = 0.15;  // of FLOP, as in Nsight Compute
constexpr double noticeable_padding = 1.05;

double rate(kernel_view const& view, precision of) {
  return view.kernel.figures.flops[static_cast<std::size_t>(of)].value_or(0);
}

}  // namespace

void look_at_fp64(kernel_view const& view, std::vector<finding>& found) {
  auto const peak64 = view.peak("fp64"), peak32 = view.peak("fp32");
  if (!peak64 || !peak32 || *peak64 >= slow_fp64 * *peak32) return;
  auto const fp64 = rate(view, precision::fp64), fp32 = rate(view, precision::fp32);
  auto const total = view.kernel.figures.total_flops.value_or(fp64 + fp32);
  if (total <= 0 || fp64 <= noticeable_fp64 * total) return;
  auto const ratio = *peak64 / *peak32;
  auto const busy = std::min(1.0, fp64 / *peak64);
  auto const high = fp64 / *peak64 / (fp64 / *peak64 + fp32 / *peak32) * (1 - ratio);
  auto one =
      finding_on(view, "fp64_unwanted", kernel_claim::other_work,
                 in_percent(fp64 / total) + " of its FLOP are FP64, which this GPU computes " +
                     as_figure(1 / ratio) + " times slower than FP32");
  one.because = {{"FP64 of all FLOP", fp64 / total, "", view.source_of_flops()},
                 {"of the FP64 peak", busy, "", view.source_of_flops()}};
  one.gain = {std::min(high, busy * (1 - ratio)) / 2 * view.time(), high * view.time()};
  one.arithmetic = "high: time x FP64's share of the time of all FLOP at their peaks x (1 - " +
                   as_figure(ratio) + "); low: half of time x share of the FP64 peak x the same";
  one.changes_results = true;
  one.to_do =
      "Look for constants such as 1.0 instead of 1.0f, calls such as exp() instead of expf() "
      "and tensors that are float64 by default; keep FP64 only for sums that need it.";
  found.push_back(std::move(one));
}

void look_at_padding(kernel_view const& view, std::vector<finding>& found) {
  auto const declared = view.kernel.declared_flop;
  auto const counted_rate = view.kernel.figures.total_flops;
  if (!declared || *declared <= 0 || !counted_rate) return;
  // FLOP derived from cycles or samples may have an error as large as the padding.
  auto const source = view.kernel.figures.source;
  if (source != flop_source::counted && source != flop_source::tensor_counted) return;
  auto const counted = *counted_rate * view.mean_ns() / 1e9;
  if (counted <= noticeable_padding * *declared) return;
  auto one = finding_on(
      view, "padded_work", kernel_claim::other_work,
      "computes " + in_percent(counted / *declared - 1) + " more than the program says it needs");
  one.because = {{"FLOP of a launch", counted, "", "counted"},
                 {"declared", *declared, "", "declared"}};
  one.gain = founded(view.time() * (1 - *declared / counted));
  one.arithmetic = "time x (1 - declared / counted) = " + in_time(view.time()) + " x (1 - " +
                   as_figure(*declared / counted) + "); low: half of it";
  one.to_do =
      "Choose sizes that fill the tiles of the kernel, sort sequences by length so that "
      "they need less padding, or pack them.";
  found.push_back(std::move(one));
}

}  // namespace gpuprof::host::advice
