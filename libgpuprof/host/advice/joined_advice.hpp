// SPDX-License-Identifier: Apache-2.0
// The advice on several ranks of a job as one: what holds back several of them is one finding; and
// how close their kernels are to the measured roofs.
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
  double all_windows_ns = 0;  // of all its GPUs: what gains are shares of
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
  finding one;     // of several ranks: as the one with the highest gain has it
  interval ns;     // of a rank: the lowest gain of all, the highest of all
  interval share;  // of its window, likewise; of 1
  std::vector<gain_of_rank> ranks;
};

/// A rule whose data some rank lacks, and what to do about it.
struct rule_without_data {
  rule const* of = nullptr;
  data_set missing;
  std::string how;  // as how_to_record() says, unless it is for another reason
};

struct joined_advice {
  std::size_t ranks = 0;
  std::vector<joined_finding> findings;   // by the time that all ranks together would save
  std::vector<joined_finding> too_small;  // on every rank
  std::vector<rule_without_data> missing;
};

/// A finding of another rank is the same when rule, range, kernel and call are, and the words apart
/// from figures in them.
joined_advice join(std::span<advice_of_rank const> ranks);

/// How close the kernels of a run are to the measured roofs of their GPUs.
struct roof_distance {
  double share = 0;        // of each kernel's highest roof, mean by time
  double known_share = 0;  // of the time of kernels: it is known for these
  bound_by bound;          // of most of this time
};

/// Nothing where it is not known for any kernel.
std::optional<roof_distance> roof_distance_of(run_facts const& facts);

}  // namespace gpuprof::host::advice
