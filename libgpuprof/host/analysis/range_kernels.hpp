// SPDX-License-Identifier: Apache-2.0
// Which kernels were launched inside the ranges of each name.
#pragma once

#include "host/analysis/kernel_labels.hpp"
#include "host/analysis/range_tree.hpp"
#include "host/analysis/samples.hpp"

#include <unordered_map>
#include <vector>

namespace gpuprof::host {

struct range_kernel_row {
  range_key range;
  thread_index thread{};  // that opened the range
  std::uint32_t label = 0;
  std::uint64_t range_instances = 0;  // ranges with at least one such kernel
  statistics time;                    // of the kernels; each counts once
};

/// A kernel belongs to the push/pop ranges that were open on its thread when it was launched, and
/// to the start/end ranges that were open anywhere in the process at that moment. Memory: about
/// eight bytes a kernel for each start/end range around it, plus eight for all push/pop ranges.
class range_kernels {
 public:
  range_kernels(range_tree const& tree, open_ranges const& open, kernel_labels const& labels);

  void add(kernel_record const& kernel);

  /// By range name as `name_of` spells it, then thread, then longest total first.
  std::vector<range_kernel_row> rows(std::function<std::string(range_key)> const& name_of);

 private:
  struct path_key {  // the ranges on one line of the report
    range_key range;
    thread_index thread{};
    friend auto operator<=>(path_key const&, path_key const&) = default;
  };
  struct range_path {  // a range name with all enclosing ones
    std::uint32_t parent = no_range;
    path_key key;
  };
  struct path_kernels {  // the kernels of one label launched directly under one path
    std::uint32_t path = 0;
    std::uint32_t label = 0;
    samples durations;
    std::vector<std::uint32_t> instances;  // innermost ranges, repeats possible
  };
  void enclosing(std::vector<std::uint32_t> const& ranges, std::uint32_t steps,
                 std::vector<std::uint32_t>& out) const;
  void note(std::uint32_t range, kernel_record const& kernel);

  range_tree const& tree_;
  open_ranges const& open_;
  kernel_labels const& labels_;
  std::vector<range_path> paths_;
  std::vector<std::uint32_t> path_of_range_;
  std::vector<path_kernels> cells_;
  std::unordered_map<std::uint64_t, std::uint32_t> cell_of_;  // path and label -> cell
};

}  // namespace gpuprof::host
