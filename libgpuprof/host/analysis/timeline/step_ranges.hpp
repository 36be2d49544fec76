// SPDX-License-Identifier: Apache-2.0
// Numbers the steps of a program, so that each range knows the step that it lies in.
#pragma once

#include "host/analysis/steps.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host {

inline constexpr std::uint32_t no_step = 0xffff'ffff;

struct step_ranges {
  std::string name;                          // "step"; empty: none
  std::vector<std::uint32_t> instances;      // indices into the tree, in order of their beginning
  std::vector<std::uint32_t> step_of_range;  // by index into the tree: number of its step; no_step
  bool empty() const noexcept { return instances.empty(); }
};

/// `name`: as the user says; empty: found.
step_ranges number_steps(range_tree const& tree, text_of_name const& text, std::string_view name);

}  // namespace gpuprof::host
