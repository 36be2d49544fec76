// SPDX-License-Identifier: Apache-2.0
// The named sets of metrics, by chip.
#pragma once

#include "base/result.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::guest {

enum class metric_set { basic, roofline, memory, full, explain };

struct metric_set_name {
  metric_set set;
  std::string_view name;
  std::string_view purpose;  // the question that it answers
};

std::span<metric_set_name const> metric_sets() noexcept;
std::optional<metric_set> metric_set_named(std::string_view name) noexcept;

struct set_contents {
  std::vector<std::string> metrics;  // most important first; read in this order
  std::vector<std::string> absent;   // metrics of other chips that this chip has no counter for
};

/// `chip` is CUPTI's name. For a chip newer than this list, all names are returned, and CUPTI
/// decides which of them it accepts.
set_contents contents_of(metric_set set, std::string_view chip);

/// True if the tensor pipe runs everything that the tensor path counts, also FP64 (on other chips
/// FP64 has its own pipe). Then a kernel that never used the pipe has no tensor operations of any
/// type.
bool tensor_pipe_runs_all(std::string_view chip) noexcept;

/// Resolves sets and metrics by name, as given to --metrics or --set: each name once, in this
/// order. Fails on a word that is neither. Does not check whether a metric exists.
result<std::vector<std::string>> chosen_metrics(std::span<std::string const> words,
                                                std::string_view chip);

}  // namespace gpuprof::guest
