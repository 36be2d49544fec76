// SPDX-License-Identifier: Apache-2.0
// Joins the advice on several ranks of a job: the same finding on several ranks becomes one. Also
// computes how close their kernels are to the measured roofs.
#pragma once

#include "host/advice/advice.hpp"
#include "host/advice/facts.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::host::advice {

struct advice_of_rank {
  std::string rank;           // "3"
  double all_windows_ns = 0;  // of all its GPUs; gains are shares of this
  advice::run_advice given;
};

struct gain_of_rank {
  std::string rank;
  std::uint64_t instances = 0;
  time_gain gain;
  double all_windows_ns = 0;
};

struct interval {
  double low = 0, high = 0;
};

struct joined_finding {
  finding one;     // wording of the rank with the highest gain
  interval ns;     // per rank: the lowest and the highest gain
  interval share;  // per rank, as a share of its window, from 0 to 1
  std::vector<gain_of_rank> ranks;
};

/// A rule for which some rank lacks data, and how to get that data.
struct rule_without_data {
  rule const* of = nullptr;
  data_set missing;
  std::string how;  // text of how_to_record(), unless the reason is another one
};

struct joined_advice {
  std::size_t ranks = 0;
  std::vector<joined_finding> findings;   // sorted by the time that all ranks together would save
  std::vector<joined_finding> too_small;  // too small on every rank
  std::vector<rule_without_data> missing;
};

/// Findings of two ranks are the same if rule, range, kernel, call and the words without digits are
/// equal.
joined_advice join(std::span<advice_of_rank const> ranks);

/// Computes how close the kernels of a run are to the measured roofs of their GPUs.
struct roof_distance {
  double share = 0;        // of each kernel's highest roof, mean by time
  double known_share = 0;  // share of kernel time for which the distance is known
  bound_by bound;          // the bound of most of this time
};

/// Returns nothing if the distance is not known for any kernel.
std::optional<roof_distance> roof_distance_of(run_facts const& facts);

}  // namespace gpuprof::host::advice
