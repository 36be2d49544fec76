// SPDX-License-Identifier: Apache-2.0
// Adds up PyTorch's operators and autograd nodes (`--pytorch ops`) by name and by the place in the
// program that called them.
#pragma once

#include "host/analysis/range_tree.hpp"
#include "model/records.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace gpuprof::host {

/// A place in the program, as a number of the caller's choice.
using place_of_stack = std::function<std::uint32_t(stack_id)>;

/// Instances inside another one of the same row count for `instances` and the own times only.
struct operator_row {
  name_id name{};
  bool is_node = false;  // of autograd
  /// Where most of it was called, by GPU time and then by instances: the stack of the first launch
  /// in an operator; of a node, in the operator of the forward pass that made it.
  std::uint32_t place = 0;
  std::uint64_t instances = 0;
  std::uint64_t launches = 0;         // kernels, copies, memsets and whole graphs, inside too
  double cpu_ns = 0, own_cpu_ns = 0;  // on its thread; own: without operators inside
  std::uint64_t gpu_ns = 0,
                own_gpu_ns = 0;  // lengths added up; own: launched by no operator inside
};

class operator_times {
 public:
  /// `domain`: of the operators. The tree must outlive it.
  operator_times(range_tree const& tree, name_id domain);

  /// Give it all begins that the tree was made of.
  void add(range_begin const& begin);
  /// Adds anything that ran on the GPU.
  template <class Record>
  void add(Record const& record) {
    add(record.range, static_cast<std::uint64_t>(record.duration.value), record.stack);
  }

  /// Call after all add().
  void finish();
  /// What is launched in a node of autograd belongs to the operator of the forward pass that made
  /// it: its stack. 0: in no node, or not known. Call after finish().
  stack_id forward_stack(range_id innermost) const noexcept;

  /// True if the tree has operators.
  bool has_operators() const noexcept { return has_operators_; }
  /// One row for each name, or for each name and place, of the instances that count. In no order.
  /// Call after finish().
  std::vector<operator_row> rows(place_of_stack const& place_of, bool by_place,
                                 std::function<bool(std::uint32_t)> const& counts = {}) const;
  std::uint64_t all_gpu_ns() const noexcept { return all_gpu_ns_; }
  /// Of it: launched by no operator.
  std::uint64_t outside_gpu_ns() const noexcept { return outside_gpu_ns_; }

 private:
  static constexpr std::uint64_t no_number = ~std::uint64_t{0};
  struct instance {
    std::uint64_t number = no_number;  // the sequence number of PyTorch
    std::uint32_t around = no_range;   // the next operator outwards on its thread
    bool is_operator = false, is_node = false;
    stack_id stack{};  // of its first launch
    std::uint64_t gpu_ns = 0, launches = 0;
  };

  void add(range_id innermost, std::uint64_t ns, stack_id stack);
  void sum_up();
  void find_makers();

  range_tree const& tree_;
  // By index into the tree. The sums have what is inside.
  std::vector<instance> instances_, sums_;
  std::vector<std::uint32_t> makers_;  // of nodes
  bool has_operators_ = false;
  std::uint64_t all_gpu_ns_ = 0, outside_gpu_ns_ = 0;
};

}  // namespace gpuprof::host
