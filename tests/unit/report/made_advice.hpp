// SPDX-License-Identifier: Apache-2.0
// Advice written by hand: a training step that waits for copies, launches and one long kernel.
#pragma once

#include "host/advice/rule.hpp"
#include "host/report/advice_report.hpp"

#include <span>
#include <string>

namespace gpuprof::test {
using namespace host;

inline constexpr double second = 1e9, millisecond = 1e6;

inline advice::finding made_finding(std::string what, double low_ms, double high_ms) {
  advice::finding one;
  one.rule = "sync_point";
  one.what = std::move(what);
  one.gain = {low_ms * millisecond, high_ms * millisecond};
  one.bucket = time_bucket::synchronization;
  one.instances = 113;
  one.device = device_id{0};
  return one;
}

inline advice::finding waiting_finding() {
  auto one = made_finding("the GPU idles behind cudaStreamSynchronize", 120, 340);
  one.range = "step";
  one.call = "cudaStreamSynchronize";
  one.because = {{"idle behind it", 3.0e6, "ns", "traced"},
                 {"times", 113, "", "traced"},
                 {"a third figure", 1, "", "traced"}};
  one.to_do = "Keep the value on the GPU, or read it once in many steps.";
  one.arithmetic = "sum of min(gap, wait) over 113 gaps";
  return one;
}

inline advice::finding product_finding() {
  auto one = made_finding("products in FP32 where the tensor cores have TF32", 900, 1250);
  one.kernel =
      "void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_tn_align1>(typename "
      "cutlass_80_simt_sgemm_256x128_8x4_tn_align1::Params, \"quoted\",\nbroken)";
  one.range = "forward";
  one.bucket = time_bucket::compute;
  one.because = {{"achieved", 41.2, "TFLOP/s", "counted"},
                 {"tensor_tf32", 402, "TFLOP/s", "measured peak"}};
  one.to_do = "torch.backends.cuda.matmul.allow_tf32 = True, or data in BF16.";
  one.arithmetic = "t - FLOP / (0.8 x 402 TFLOP/s)";
  one.changes_results = true;
  return one;
}

inline advice::finding hidden_finding() {
  auto one = made_finding("a kernel below the roof", 0, 150);
  one.kernel = "layer_norm";
  one.bucket = time_bucket::compute;
  one.is_hidden_by_launches = true;
  one.to_do = "Load 16 bytes a thread.";
  one.because = {{"of the roof", 0.31, "", "counted"}, {"DRAM", 1.2e12, "B/s", "counted"}};
  return one;
}

inline bucket_times made_times() {
  bucket_times times;
  times[time_bucket::compute] = 6.12 * second;
  times[time_bucket::launch_bound] = 2.10 * second;
  times[time_bucket::synchronization] = 0.95 * second;
  times[time_bucket::transfer] = 0.5 * second;
  times[time_bucket::start_up] = 0.3 * second;
  times[time_bucket::back_to_back] = 0.02 * second;
  times[time_bucket::profiler] = 0.01 * second;
  return times;
}

inline report::ledger_line made_line(std::string label, double scale) {
  report::ledger_line line;
  line.label = std::move(label);
  auto const times = made_times();
  for (std::size_t i = 0; i < time_bucket_count; ++i)
    line.times[static_cast<time_bucket>(i)] = times[static_cast<time_bucket>(i)] * scale;
  return line;
}

inline advice::run_advice made_advice() {
  advice::run_advice given;
  given.findings = {product_finding(), waiting_finding(), hidden_finding()};
  given.too_small = {made_finding("the GPU idles behind cudaMemcpy", 10, 40)};
  given.missing = {{advice::find_rule("sync_point"), advice::data::explain | advice::data::peaks}};
  return given;
}

/// A report without findings; the tests put theirs in.
inline report::advice_report made_frame() {
  report::advice_report report;
  report.heading = {"captured: ./train --steps 113 on NVIDIA H200, 10.000 s, 227,311 kernels",
                    "lost: nothing",
                    "cost: the program waited 9.8 ms for this profiler, 0.1 % of the run"};
  report.holds.bucket = time_bucket::compute;
  report.holds.share = 0.612;
  report.holds.sentence = "The GPU is busy 66 % of the time, most of it with kernels.";
  report.roof_is_missing = "--metrics auto";
  report.window_ns = report.all_windows_ns = report.best_case_ns = 10 * second;
  auto gpu = made_line("GPU 0", 1);
  gpu.device = 0;
  report.time.gpus = {gpu};
  auto forward = made_line("forward", 0.4);
  forward.own = made_line("", 0.3).times;
  report.time.ranges = {made_line("step", 0.9), forward};
  auto first = made_line("step 0", 0.01);
  first.period_ns = 100 * millisecond;
  report.time.steps = {first, made_line("step 1", 0.02)};
  report.remarks = {"2 % of the records were lost"};
  return report;
}

inline report::advice_report made_report() {
  auto report = made_frame();
  report.best_case_ns = 8.26 * second;
  report.roof = advice::roof_distance{0.62, 0.97, {bound_by::kind::dram, {}}};
  advice::advice_of_rank const alone{"", 10 * second, made_advice()};
  report.advice = advice::join(std::span(&alone, 1));
  return report;
}

inline report::advice_report made_report_of_ranks() {
  auto report = made_frame();
  std::vector<advice::advice_of_rank> ranks;
  report.time.gpus.clear();
  for (int rank = 0; rank < 8; ++rank) {
    auto const label = std::to_string(rank);
    auto one = waiting_finding();
    one.gain = {100 * millisecond, (120.0 + rank) * millisecond};
    ranks.push_back({label, 10 * second, {}});
    ranks.back().given.findings = {one};
    if (rank == 3) ranks.back().given.findings.push_back(product_finding());
    auto line = made_line(label, 1 + 0.01 * rank);
    line.rank = label;
    report.time.ranks.push_back(line);
    line.label = "rank " + label + " GPU 0";
    line.device = 0;
    report.time.gpus.push_back(line);
    report.ranks.push_back({label,
                            "run.rank" + label + ".gpuprof",
                            10 * second,
                            report.holds,
                            {{"cost.start_ns", 9'800'000}}});
  }
  report.time.ranges.clear();
  report.time.steps.clear();
  report.all_windows_ns = report.best_case_ns = 80 * second;
  report.advice = advice::join(ranks);
  return report;
}

}  // namespace gpuprof::test
