// SPDX-License-Identifier: Apache-2.0
// Lists everything that ran on the GPU, in order of start.
#pragma once

#include "model/records.hpp"

#include <array>
#include <memory>
#include <utility>
#include <vector>

namespace gpuprof::host {

enum class gpu_work : std::uint8_t { kernel, copy, fill, graph };

/// One line of the trace. Data that kernels of one shape share is stored once, elsewhere.
struct gpu_operation {
  std::uint64_t start = 0;
  std::uint64_t duration = 0;
  std::uint64_t bytes = 0;  // copies and fills only
  std::uint32_t correlation = 0;
  std::uint32_t what = 0;  // kernel: shape; graph: its number
  std::uint32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  gpu_work work{};
  copy_kind kind{};
  memory_kind source{};
  memory_kind destination{};
};

/// Uses 48 bytes per operation, in chunks that never move.
class gpu_trace {
 public:
  void add(kernel_record const& kernel);
  void add(copy_record const& copy);
  void add(memset_record const& fill);
  void add(graph_record const& graph);

  std::size_t size() const noexcept { return size_; }

  /// Calls take(operation) for each operation, earliest start first. Equal starts keep the order of
  /// gpu_work, then the order of adding.
  template <class Take>
  void in_order(Take&& take) const {
    if (in_order_as_added_) {
      for (std::size_t i = 0; i < size_; ++i) take(at(i));
      return;
    }
    for (auto const i : order_of_start()) take(at(i));
  }

 private:
  static constexpr std::size_t chunk_size = 65536;
  using chunk = std::array<gpu_operation, chunk_size>;

  template <class Record>
  gpu_operation& append(Record const& record, gpu_work work);
  gpu_operation const& at(std::size_t i) const noexcept {
    return (*chunks_[i / chunk_size])[i % chunk_size];
  }
  std::vector<std::uint32_t> order_of_start() const;

  std::vector<std::unique_ptr<chunk>> chunks_;
  std::size_t size_ = 0;
  using turn = std::pair<std::uint64_t, gpu_work>;
  turn latest_{};
  bool in_order_as_added_ = true;
};

}  // namespace gpuprof::host
