// SPDX-License-Identifier: Apache-2.0
// Finds the steps of a program: what it counts with gpuprof_step(), or the NVTX range that repeats
// and has nearly everything inside.
#pragma once

#include "host/analysis/kernel_labels.hpp"
#include "host/analysis/range_tree.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host {

/// Fewer are no repetition.
inline constexpr std::size_t least_steps = 3;

/// "ProfilerStep" of "ProfilerStep#12", "step" of "step 3", "iter" of "iter[7]"; the name itself
/// where nothing else is left.
std::string_view without_number(std::string_view name) noexcept;
/// "aten::mm, seq = 12, op_id = 5000" of torch.autograd.profiler.emit_nvtx without what follows the
/// operator's name: that is another text at each call.
std::string_view without_operator_numbers(std::string_view name) noexcept;

struct range_steps {
  std::string name;  // without a number at its end; empty: there are none
  name_id domain{};
  std::vector<std::uint32_t> instances;  // indices into the tree, in order of beginning
};

/// All ranges of this name, with any number or none behind it, but those inside another of them.
/// "DOMAIN:NAME" as reports show it, or NAME in any domain.
range_steps steps_named(range_tree const& tree, text_of_name const& text, std::string_view name);

/// Those of gpuprof_step(), where a program has them: it has said what a step is. One that was
/// still open at the end is none of them: what comes after the last call is no step, or a part of
/// one. Else of the push/pop ranges that repeat and lie in none that repeats, the one with the
/// greatest total time; one that is called a step, an iteration or a batch goes first, where it has
/// at least half of that. A call that is made now and then is no step: steps cover at least a
/// quarter of the time from the first to the last.
range_steps find_steps(range_tree const& tree, text_of_name const& text);

}  // namespace gpuprof::host
