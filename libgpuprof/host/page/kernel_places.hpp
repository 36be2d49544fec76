// SPDX-License-Identifier: Apache-2.0
// Counts from which NVTX ranges and CUDA graphs a kernel was launched, and which kernels ran
// directly before and after it on its stream: how often and for how long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace gpuprof::host::page {

/// Counts which kernels ran directly before and after each other on the same stream.
struct neighbor {
  std::uint32_t kernel = 0;
  std::uint64_t times = 0;
};

struct kernel_surroundings {
  std::vector<neighbor> before, after;  // the most frequent first
};

class kernel_neighbors {
 public:
  /// Counts at most `max_pairs` different pairs, so memory is bounded.
  explicit kernel_neighbors(std::size_t max_pairs) : limit_(max_pairs) {}

  /// Kernels of a stream must come in order of their starts.
  void add(std::uint32_t device, std::uint32_t context, std::uint32_t stream, std::uint32_t kernel);

  /// Returns for the kernels with numbers below `kernels` the `most` most frequent neighbors on
  /// each side.
  std::vector<kernel_surroundings> of_each(std::size_t kernels, std::size_t most) const;
  /// Pairs not counted because there were already too many different ones.
  std::uint64_t not_counted() const noexcept { return not_counted_; }

 private:
  std::size_t limit_;
  std::uint64_t not_counted_ = 0;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> last_;
  std::unordered_map<std::uint64_t, std::uint64_t> pairs_;  // (before, after) -> count
};

struct placed_kernel {
  std::uint32_t kernel = 0;
  std::uint64_t launches = 0, total_ns = 0;
};

/// All ranges with one name, or a graph, with the kernels launched inside. The one with the longest
/// time comes first.
struct kernel_place {
  std::string name;
  std::vector<placed_kernel> kernels;
  std::uint64_t total_ns = 0;
  bool is_start_end = false;
};

/// The place from which a kernel was launched.
struct launch_place {
  std::uint64_t range = 0;        // the innermost push/pop range; 0: none
  std::uint32_t graph = 0;        // 0: none
  std::uint64_t launched_ns = 0;  // 0: not known
};

/// A kernel counts for the push/pop ranges around its launch, and for the start/end ranges that are
/// open then on any thread. Each name counts once.
class kernel_places {
 public:
  /// Keeps at most `max_pairs` different nestings of names, and as many pairs of a nesting and a
  /// kernel. Further launches count as not placed.
  explicit kernel_places(std::size_t max_pairs, std::size_t max_start_end = 1024);

  void open(std::uint64_t range, std::uint64_t parent, std::string_view name);
  /// Ranges must come in order of their beginnings, each before the kernels that start later.
  /// Because launches are earlier than starts, the max_start_end ranges that ended last are kept,
  /// however old they are.
  void add_start_end(std::uint64_t begin_ns, std::uint64_t end_ns, std::string_view name);
  void add(std::uint32_t kernel, std::uint64_t duration_ns, launch_place const& from);

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
  using sums = std::unordered_map<std::uint64_t, sum>;  // by place and kernel
  struct start_end_range {
    std::uint64_t begin_ns = 0, end_ns = 0;
    std::uint32_t name = 0;
  };

  void find_open_at(std::uint64_t moment_ns);
  bool count_open(std::uint32_t kernel, std::uint64_t duration_ns, std::uint64_t launched_ns);
  std::uint32_t nesting_of(std::uint64_t range);
  bool count(sums& of, std::uint32_t place, std::uint32_t kernel, std::uint64_t duration_ns);
  std::uint32_t name_of(std::string_view name);

  std::size_t limit_, max_start_end_;
  std::uint64_t not_placed_ = 0;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> by_name_;
  std::vector<nesting> nestings_;  // 0: outside of all ranges, 1: did not fit
  std::unordered_map<std::uint64_t, std::uint32_t> by_nesting_, by_range_;
  std::uint64_t last_range_ = 0;  // consecutive kernels are mostly in the same range
  std::uint32_t nesting_of_last_ = 1;
  sums by_nesting_sums_, by_graph_, by_start_end_;
  std::vector<start_end_range> start_end_;  // a heap whose front is the first range to end
  std::uint64_t forgotten_until_ns_ = 0;    // ranges that ended before this time may be missing
  // Names of the ranges open from `open_from_ns_` until `open_until_ns_`.
  std::vector<std::uint32_t> open_names_;
  std::uint64_t open_from_ns_ = 0, open_until_ns_ = 0;
};

}  // namespace gpuprof::host::page
