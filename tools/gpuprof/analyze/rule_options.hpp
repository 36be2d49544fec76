// SPDX-License-Identifier: Apache-2.0
// Reads --rule, --skip-rule, --min-gain and --fail-on.
#pragma once

#include "analyze/nsys_rules.hpp"
#include "base/result.hpp"
#include "host/advice/joined_advice.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host::command {

/// "gpu_gaps", or with options in nsys' notation: "gpu_gaps:gap=100:rows=10".
struct asked_nsys_rule {
  std::string name;
  nsys_rule_options options;
};
struct asked_rules {
  std::vector<std::string> ours;
  std::vector<asked_nsys_rule> of_nsys;
};
/// The error suggests the nearest rule.
result<asked_rules> parse_rules(std::string_view option, std::span<std::string const> names,
                                bool nsys_too);
std::vector<std::string> rule_names(bool nsys_too);

/// Returns 0.01 for "1%" and for "0.01".
result<double> parse_share(std::string_view option, std::string_view text);

/// Lets the command fail if a rule finds more than this share of the window.
struct gate {
  std::string rule;  // empty: any rule
  double share = 0;
};
/// Parses "sync_point", "sync_point:2%", "sync_point>2%", "any>5%".
result<std::vector<gate>> parse_gates(std::span<std::string const> texts);

struct gate_answer {
  std::vector<std::string> failed;     // a line for each gate that fails
  std::vector<std::string> undecided;  // a line for each gate whose data are missing
};
gate_answer ask(std::span<gate const> gates, advice::joined_advice const& advice);

}  // namespace gpuprof::host::command
