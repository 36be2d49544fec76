// SPDX-License-Identifier: Apache-2.0
// Launches of the recorded steps that one change of the program would save together: neighbors that
// could be one kernel, moves, products in a row, sorts.
#pragma once

#include "host/analysis/kernel_kind.hpp"
#include "host/replay/recorded_steps.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace gpuprof::host::advice {

struct run_facts;

enum class group_pattern : std::uint8_t {
  chain,      // elementwise work, reductions and moves in a row, which one kernel could do
  attention,  // the same between two products, with a softmax
  moves,      // kernels without arithmetic that do the same
  products,   // products of one shape in a row, each too small for the GPU
  sort,       // sorts
  doubles,    // FP64 arithmetic that is no product
  floats,     // elementwise FP32 arithmetic beside products of 16 bits
  optimizer,  // a chain that repeats for each of many tensors and ends as optimizers do
  tuning,     // a library tries kernels, one after the other
  atomics,    // additions by atomics
  mask,       // rows are selected by a mask: the positions are counted, then the rows are copied
  to_host,    // large copies to the host
  reads,      // results of a few bytes are read one after the other, with only sums between
  padded,     // work behind copies into a tensor that they fill in part
};

/// Sums are over all recorded steps. Items are marked by their index into recorded_steps::items.
struct work_group {
  group_pattern pattern{};
  std::size_t number = 0;            // place in the list
  std::vector<std::string> kernels;  // base names, most time first, each once
  /// Of moves, most time first: "concatenates tensors"; of tuning the library.
  std::vector<std::string> does;
  std::uint64_t launches = 0, instances = 0;
  double total_ns = 0;
  double bytes = 0;         // of copies
  double padded_bytes = 0;  // of the tensors that the copies fill in part
  /// The calls between a launch and the one before prepare it: memory for what it makes. Not of
  /// fills, and not of what a library does for its own kernels.
  bool is_prepared = true;
  double least_ns = 0, sure_ns = 0;  // what the launches would take together: at best, at least
  double first_ns = 0, last_ns = 0;  // of moves that grow within a step: its first, its last ones
  bool has_bytes = false;            // `least_ns` comes from counted or fitted bytes
  std::vector<bool> all, kept;       // `kept`: one of each instance, which takes the time of all
  double kept_ns = 0;                // what the kept ones take now
  std::vector<bool> beside;          // products next to attention, which write and read the scores
  double beside_ns = 0, beside_least_ns = 0;  // their time; the same if they only computed
  std::string line;                           // that launched most of it; empty: not known
  std::string module;                         // of PyTorch, that has most of it; empty: not known
  std::map<std::uint32_t, double> stacks;     // nanoseconds by stack_id
};

/// The line of the program behind a stack_id; empty: not known.
using line_of_stack = std::function<std::string(std::uint32_t)>;

/// Groups with the most time first. Kernels have DRAM bytes only if these were counted or fitted.
std::vector<work_group> find_groups(replay::recorded_steps const& steps, run_facts const& facts,
                                    line_of_stack const& line_of);

}  // namespace gpuprof::host::advice
