// SPDX-License-Identifier: Apache-2.0
// From which NVTX ranges and CUDA graphs kernels were launched: how often, for how long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpuprof::page {

struct placed_kernel {
  std::uint32_t kernel = 0;
  std::uint64_t launches = 0, total_ns = 0;
};

/// All ranges of one name, or a graph, with the kernels launched inside; the longest time first.
struct kernel_place {
  std::string name;
  std::vector<placed_kernel> kernels;
  std::uint64_t total_ns = 0;
};

/// A kernel is launched from the push/pop ranges around its launch, each name once, however deep.
class kernel_places {
 public:
  /// At most so many different nestings of names, and pairs of one with a kernel: beyond that
  /// launches count as not placed.
  explicit kernel_places(std::size_t max_pairs);

  void open(std::uint64_t range, std::uint64_t parent, std::string_view name);
  /// `range`: innermost; 0: none. `graph` likewise.
  void add(std::uint32_t kernel, std::uint64_t duration_ns, std::uint64_t range,
           std::uint32_t graph);

  std::vector<kernel_place> ranges() const;
  std::vector<kernel_place> graphs() const;
  std::uint64_t not_placed() const noexcept { return not_placed_; }

 private:
  struct nesting {
    std::uint32_t name = 0, parent = 0;
  };
  struct sum {
    std::uint64_t launches = 0, total_ns = 0;
  };
  using sums = std::unordered_map<std::uint64_t, sum>;  // place and kernel

  bool count(sums& of, std::uint32_t place, std::uint32_t kernel, std::uint64_t duration_ns);
  std::uint32_t name_of(std::string_view name);

  std::size_t limit_;
  std::uint64_t not_placed_ = 0;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> by_name_;
  std::vector<nesting> nestings_;  // 0: outside of all, 1: one of too many
  std::unordered_map<std::uint64_t, std::uint32_t> by_nesting_, by_range_;
  sums by_nesting_sums_, by_graph_;
};

}  // namespace gpuprof::page
