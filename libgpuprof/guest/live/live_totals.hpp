// SPDX-License-Identifier: Apache-2.0
// Running totals per kernel, copy kind and range name, in memory that does not grow with the run.
#pragma once

#include "guest/live/recent_ranges.hpp"
#include "model/record_sink.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::guest {

struct live_kernel {
  std::string name;  // mangled; "(other)" for all names beyond the capacity
  std::uint64_t count = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t minimum_ns = 0;
  std::uint64_t maximum_ns = 0;
};

struct live_copy {
  copy_kind kind{};
  bool is_fill = false;  // a memset; `kind` has no meaning then
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::uint64_t total_ns = 0;
};

struct live_range {
  std::string name;          // "domain:name", or the bare name in the default domain
  std::uint64_t count = 0;   // ranges that ended
  std::uint64_t cpu_ns = 0;  // of the ranges that ended
  std::uint64_t gpu_ns = 0;  // busy time of all kernels, copies and fills launched inside
  std::uint64_t gpu_operations = 0;
};

struct live_snapshot {
  std::vector<live_kernel> kernels;  // longest total first
  std::vector<live_copy> copies;     // longest total first
  std::vector<live_range> ranges;    // most GPU time first, then most CPU time
  std::uint64_t kernel_count = 0;
  std::uint64_t kernel_ns = 0;
  std::uint64_t graph_count = 0;  // whole graphs, if tracing is at graph level
  std::uint64_t graph_ns = 0;
  /// GPU operations that count in no range, because their range is too old to be still known.
  std::uint64_t without_range = 0;
};

/// One thread adds, any thread takes snapshots. After the first record of each name, adding
/// allocates nothing.
class live_totals final : public record_sink {
 public:
  struct capacity {
    std::size_t names = 1024;           // limit for kernel names and for range names
    std::size_t recent_ranges = 65536;  // ranges kept for matching GPU work, power of two
    std::size_t recent_start_end = 64;  // how many of these may be start/end ranges
  };
  /// The adding thread calls `text` once for each name. The result must stay valid only until the
  /// next call.
  explicit live_totals(std::function<std::string_view(name_id)> text)
      : live_totals(std::move(text), capacity{}) {}
  live_totals(std::function<std::string_view(name_id)> text, capacity limits);

  using record_sink::add;
  void add(kernel_shape const& shape) override;
  void add(kernel_record const& kernel) { add(std::span(&kernel, 1)); }
  void add(std::span<kernel_record const> kernels) override;  // takes the lock once for all of them
  void add(graph_record const& graph) override;
  void add(copy_record const& copy) override;
  void add(memset_record const& fill) override;
  void add(range_begin const& begin) override;
  void add(range_end const& end) override;

  live_snapshot snapshot() const;
  /// Sets all counts to zero. Names, shapes and open ranges stay known.
  void clear();

 private:
  using slot = std::uint32_t;  // index into kernels_ or ranges_; 0 is "(other)"
  struct name_slot {
    std::uint64_t key = ~std::uint64_t{0};
    slot to = 0;
  };

  slot slot_of(std::vector<name_slot>& index, std::uint64_t key, std::size_t used, bool& is_new);
  void count_gpu_time(range_id innermost, timestamp_ns launched, duration_ns duration);
  void give(recent_range const& range, std::uint64_t length);

  std::function<std::string_view(name_id)> const text_;
  capacity const limits_;

  mutable std::mutex mutex_;  // guards everything below; held for one batch or one copy
  std::vector<live_kernel> kernels_;
  std::vector<live_range> ranges_;
  std::array<live_copy, 12> copies_;  // by copy_kind; the last one is for fills
  std::vector<name_slot> kernel_index_;
  std::vector<name_slot> range_index_;
  std::vector<slot> slot_of_shape_;
  recent_ranges recent_;
  std::vector<std::uint64_t> last_given_;  // by range name: the last operation that was added to it
  std::uint64_t operation_ = 0;
  std::uint64_t kernel_count_ = 0, kernel_ns_ = 0, graph_count_ = 0, graph_ns_ = 0;
  std::uint64_t without_range_ = 0;
};

}  // namespace gpuprof::guest
