// SPDX-License-Identifier: Apache-2.0
// Runs the rules over a run, keeps the findings with enough gain and names the bottleneck.
#pragma once

#include "host/advice/facts.hpp"
#include "host/advice/finding.hpp"
#include "host/advice/replayed_gains.hpp"
#include "host/advice/rule.hpp"

#include <string>
#include <vector>

namespace gpuprof::host::advice {

struct advice_options {
  std::vector<std::string> only;     // --rule: names of rules; empty: all
  std::vector<std::string> skipped;  // --skip-rule
  double min_gain = 0.01;            // of the window
};

/// Finds what a program waits for, using the time ledger of its GPUs.
struct bottleneck {
  time_bucket bucket{};        // with the most time
  double share = 0;            // of the windows of all GPUs together
  bool launches_hold = false;  // the launching thread is slower than the GPU
  std::string sentence;        // "The GPU is busy 93 % of the time: kernels hold the program."
  /// What steps are sensitive to: "10 % less CPU work makes a step 9.8 % shorter, ...". Empty:
  /// steps cannot be replayed.
  std::string steps;
};

bottleneck bottleneck_of(run_facts const& facts);

/// Replays the steps with 10 % less time of each kind of work, and says how much shorter they get.
std::string sensitivity_of(replayable_steps const& steps);

/// A rule that was not run because the capture lacks its data.
struct not_looked_at {
  rule const* of;
  data_set missing;
};

struct run_advice {
  bottleneck holds;
  std::vector<finding> findings;   // highest gain first
  std::vector<finding> too_small;  // below min_gain
  std::vector<not_looked_at> missing;
  double own_windows_ns = 0;  // of all GPUs, without what this profiler adds to launches and waits
  double best_case_ns = 0;    // the same if all were done
};

/// With `steps`, gains come from a replay of them where a finding states its repair; null: from
/// sums of the run.
run_advice give_advice(run_facts const& facts, advice_options const& options,
                       replayable_steps const* steps = nullptr);

/// The options that record the missing data: "--set explain", "--trace cuda-api".
std::string how_to_record(data_set missing);

// Turns what rules found on each launch geometry into findings on each kernel.

/// Returns true if the program waits for its launches. A shorter kernel saves time only if the
/// program waits for it: not if it waits for launches, and not while other kernels run.
///
/// That is the case if the launching thread needs longer than the GPUs or, if its time is not
/// known, if the GPUs wait for launches in more than a tenth of the window.
bool launches_hold(run_facts const& facts);

/// Adjusts the gains of findings on kernels. Low gains count only launches that ran alone and whose
/// successor was already queued. High gains do the same, and the finding says so, if launches hold
/// the program and most launches of the kernel had no queued successor.
void take_hidden_gains(std::vector<finding>& findings, run_facts const& facts);

/// Merges findings of one rule on one kernel name, or of one family, across launch geometries and
/// GPUs: gains and instances are added up, words and evidence come from the part with the highest
/// gain. Also merges findings without a kernel that differ only in their GPU. Keeps the order of
/// first appearance.
std::vector<finding> merge_findings(std::vector<finding> findings);

/// Divides what each kernel can save among its findings, states their repairs, subtracts what
/// launches hide and merges geometries. Does not change findings without a kernel. Nothing is
/// subtracted for kernels of `replayed` steps.
std::vector<finding> settle_kernel_findings(std::vector<finding> findings, run_facts const& facts,
                                            replayable_steps const* replayed = nullptr);

}  // namespace gpuprof::host::advice
