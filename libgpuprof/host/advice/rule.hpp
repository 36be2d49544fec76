// SPDX-License-Identifier: Apache-2.0
// A rule is a row of data and one small pure function.
#pragma once

#include "host/advice/facts.hpp"
#include "host/advice/finding.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host::advice {

enum class rule_group : std::uint8_t {
  kernel,
  launches,
  memory,
  synchronization,
  communication,
  input,
};
std::string_view name_of(rule_group group) noexcept;

struct rule {
  std::string_view name;  // "sync_point"
  rule_group group{};
  data_set needs;
  std::string_view question;        // "Does the GPU idle behind waits?"
  std::string_view fires_at;        // the threshold, and why this one
  std::string_view gain;            // its arithmetic
  std::string_view ignores;         // what the rule cannot know
  std::string_view next;            // what to run to know more
  std::uint64_t min_instances = 3;  // fewer are chance; 1 if it can happen only once
  /// Appends the findings. Must not apply the thresholds that hold for all rules.
  void (*look)(run_facts const& facts, std::vector<finding>& found);
};

/// Each group has its own file.
std::span<rule const> kernel_rules() noexcept;
std::span<rule const> group_rules() noexcept;
std::span<rule const> launch_rules() noexcept;
std::span<rule const> memory_rules() noexcept;
std::span<rule const> wait_rules() noexcept;
std::span<rule const> communication_rules() noexcept;
std::span<rule const> input_rules() noexcept;
/// Returns all rules, in this order.
std::vector<rule const*> const& all_rules();

/// Returns nullptr if no rule has this name.
rule const* find_rule(std::string_view name) noexcept;

/// Names as programs read them: "kernels", "blocking_calls".
std::vector<std::string> names_of(data_set what);

}  // namespace gpuprof::host::advice
