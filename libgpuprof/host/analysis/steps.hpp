// SPDX-License-Identifier: Apache-2.0
// Finds the steps of a program: the ranges of gpuprof_step(), or the NVTX range that repeats and
// contains nearly everything.
#pragma once

#include "host/analysis/kernel_labels.hpp"
#include "host/analysis/range_tree.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host {

/// Fewer instances do not count as a repetition.
inline constexpr std::size_t least_steps = 3;

/// Returns "ProfilerStep" for "ProfilerStep#12", "step" for "step 3", "iter" for "iter[7]"; the
/// whole name if nothing else would be left.
std::string_view without_number(std::string_view name) noexcept;
/// Removes what follows the operator's name in "aten::mm, seq = 12, op_id = 5000"
/// (torch.autograd.profiler.emit_nvtx), because it differs in each call.
std::string_view without_operator_numbers(std::string_view name) noexcept;

struct range_steps {
  std::string name;  // without a number at its end; empty: no steps
  name_id domain{};
  std::vector<std::uint32_t> instances;  // indices into the tree, in order of start
};

/// Returns all ranges of this name, with or without a number at the end, except those inside
/// another of them. The name is "DOMAIN:NAME" as reports show it, or NAME in any domain.
range_steps steps_named(range_tree const& tree, text_of_name const& text, std::string_view name);

/// Returns the ranges of gpuprof_step() if the program calls it, except one still open at the end,
/// which is not a whole step. Otherwise chooses among the push/pop ranges that repeat and are not
/// inside a repeating one: the one with the greatest total time, or one called step, iteration or
/// batch if it has at least half of that time. Steps must cover at least a quarter of the time from
/// the first to the last, so that occasional calls do not count.
range_steps find_steps(range_tree const& tree, text_of_name const& text);

}  // namespace gpuprof::host
