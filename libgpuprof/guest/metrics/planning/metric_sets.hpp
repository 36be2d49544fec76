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
  std::string_view purpose;  // what it answers
};

std::span<metric_set_name const> metric_sets() noexcept;
std::optional<metric_set> metric_set_named(std::string_view name) noexcept;

struct set_contents {
  std::vector<std::string> metrics;  // in order of weight: what comes first is read first
  std::vector<std::string> absent;   // this chip counts nothing of the kind, other chips do
};

/// `chip` as CUPTI writes it. For a chip newer than this list all names are given, and what CUPTI
/// makes of each decides.
set_contents contents_of(metric_set set, std::string_view chip);

/// The tensor pipe runs all that the tensor path counts, FP64 too, which elsewhere is the FP64
/// pipe's: a kernel for which it was never active has no tensor operations of any type.
bool tensor_pipe_runs_all(std::string_view chip) noexcept;

/// Sets and metrics by name, as after --metrics or --set: each name once, in this order. Fails on a
/// word that is neither; whether a metric exists is not looked at.
result<std::vector<std::string>> chosen_metrics(std::span<std::string const> words,
                                                std::string_view chip);

}  // namespace gpuprof::guest
