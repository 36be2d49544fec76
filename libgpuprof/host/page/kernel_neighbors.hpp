// SPDX-License-Identifier: Apache-2.0
// Which kernels run just before and just after which on the same stream, and how often.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace gpuprof::host::page {

struct neighbor {
  std::uint32_t kernel = 0;
  std::uint64_t times = 0;
};

struct kernel_surroundings {
  std::vector<neighbor> before, after;  // the most frequent first
};

class kernel_neighbors {
 public:
  /// At most so many different pairs; memory is bounded by it.
  explicit kernel_neighbors(std::size_t max_pairs) : limit_(max_pairs) {}

  /// In order of starts on a stream.
  void add(std::uint32_t device, std::uint32_t context, std::uint32_t stream, std::uint32_t kernel);

  /// Of the kernels below `kernels`, the `most` most frequent on each side.
  std::vector<kernel_surroundings> of_each(std::size_t kernels, std::size_t most) const;
  /// Pairs that were not counted as there were too many different ones already.
  std::uint64_t not_counted() const noexcept { return not_counted_; }

 private:
  std::size_t limit_;
  std::uint64_t not_counted_ = 0;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> last_;
  std::unordered_map<std::uint64_t, std::uint64_t> pairs_;  // before and after -> times
};

}  // namespace gpuprof::host::page
