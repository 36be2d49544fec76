// SPDX-License-Identifier: Apache-2.0
// Runs the rules over a run, keeps what is worth saying, says what holds the program.
#pragma once

#include "host/advice/facts.hpp"
#include "host/advice/finding.hpp"
#include "host/advice/rule.hpp"

#include <string>
#include <vector>

namespace gpuprof::host::advice {

struct advice_options {
  std::vector<std::string> only;     // --rule: names of rules; empty: all
  std::vector<std::string> skipped;  // --skip-rule
  double min_gain = 0.01;            // of the window
};

/// What a program waits for, from the ledger of its GPUs.
struct bottleneck {
  time_bucket bucket{};        // with the most time
  double share = 0;            // of the windows of all GPUs
  bool launches_hold = false;  // the launching thread is slower than the GPU
  std::string sentence;        // "The GPU is busy 93 % of the time: kernels hold the program."
};

bottleneck bottleneck_of(run_facts const& facts);

/// A rule whose data is not in the capture.
struct not_looked_at {
  rule const* of;
  data_set missing;
};

struct run_advice {
  bottleneck holds;
  std::vector<finding> findings;   // highest gain first
  std::vector<finding> too_small;  // below min_gain
  std::vector<not_looked_at> missing;
  double best_case_ns = 0;  // the window if all were done
};

run_advice give_advice(run_facts const& facts, advice_options const& options);

/// "--set explain", "--trace cuda-api": what makes a capture hold this.
std::string how_to_record(data_set missing);

// From what rules found on each launch geometry of kernels to what is said of each kernel.

/// A shorter kernel saves time only where the program waits for it: not where it waits for
/// launches, and not where other kernels run meanwhile. This says whether it waits for launches.
///
/// The launching thread needs longer than the GPUs; where its time is not known: the GPUs wait for
/// launches in more than a tenth of the window.
bool launches_hold(run_facts const& facts);

/// For findings on kernels. Low gains count only launches that ran alone and whose successor was
/// already queued. Where launches hold the program and most launches of a kernel had no queued
/// successor, high gains do so too, and the finding says it.
void take_hidden_gains(std::vector<finding>& findings, run_facts const& facts);

/// Makes one finding where a rule found the same on many launch geometries or GPUs. Findings of one
/// rule on one kernel name, or of one family, become one: gains and instances are added up, words
/// and evidence are those of the part with the highest gain. So do findings without a kernel that
/// differ in nothing but their GPU. Keeps the order of the first ones.
std::vector<finding> merge_findings(std::vector<finding> findings);

/// Shares what each kernel can save among its findings, takes off what launches hide, merges
/// geometries. Findings without a kernel stay as they are.
std::vector<finding> settle_kernel_findings(std::vector<finding> findings, run_facts const& facts);

}  // namespace gpuprof::host::advice
