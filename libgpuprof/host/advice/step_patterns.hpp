// SPDX-License-Identifier: Apache-2.0
// Finds work that belongs together by its order in a step: reads of small values one after the
// other, tensors of padded sequences, kernels that a library tries.
#pragma once

#include "host/advice/recorded_work.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host::advice {

/// Items of one stream, in order.
using items_in_order = std::span<std::uint32_t const>;

/// A copy of a few bytes to the host, as `.item()` makes.
bool is_small_read(replay::recorded_item const& item) noexcept;

/// Reads one after the other in a step, with nothing but sums between, and the loop that uses the
/// values: they could be made together, and read once.
std::vector<items_in_order> rows_of_reads(recorded_work const& known, items_in_order items);

struct padded_tensor {
  items_in_order copies, behind;  // a copy for each sequence; what the step does behind them
  double filled_bytes = 0, padded_bytes = 0;
};

/// Sequences are padded: zeros go into a tensor, then a copy for each of its rows, of which only
/// the longest fills its row. If copies fill the whole tensor, the fill before them is that of
/// something smaller. All that the step does behind them may work on padding.
std::vector<padded_tensor> padded_tensors(recorded_work const& known, items_in_order items);

/// The mean time of the first and of the last quarter of these items in a step, if there are eight
/// or more in most steps and the last take twice as long: each works on what those before it left.
struct growth_in_step {
  double first_ns = 0, last_ns = 0;
};
std::optional<growth_in_step> growth_in_steps(recorded_work const& known,
                                              std::vector<bool> const& items);

/// Kernels that take longer in the second half of the recorded steps than in the first, by base
/// name, the greatest difference first: those that make up most of it.
std::vector<std::string> growing_kernels(replay::recorded_steps const& steps);

/// What a library runs to find its fastest kernel. `end`: of the row of launches, in `items`.
struct kernel_trials {
  std::size_t end = 0;
  std::string_view library;
  double fastest_ns = 0;  // of the kernel that runs afterwards, if that is in the row
};

/// Triton clears the L2 cache by a long fill before each launch of a kernel that it times. XLA and
/// Inductor have kernels that run only then. Ends at `begin` if there are no trials.
kernel_trials trials_at(recorded_work const& known, items_in_order items, std::size_t begin);

}  // namespace gpuprof::host::advice
