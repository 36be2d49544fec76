// SPDX-License-Identifier: Apache-2.0
// Of each GPU the time in which nothing ran, by cause.
#pragma once

#include <gpuprof/capture.hpp>

#include "host/page/timeline_bars.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuprof::host::page {

/// A lane a cause of a GPU. Gaps are joined like other bars, but in some windows they are kept.
class idle_times {
 public:
  /// At most so many bars, and `max_finer` more in windows.
  idle_times(std::size_t max_bars, std::size_t max_finer) : bars_(max_bars), finer_(max_finer) {}

  /// Before what lies in them is added.
  void look_into(std::vector<captured_stretch> windows);

  /// Of a cause of a GPU in order of time.
  void add(std::uint32_t device, std::string_view cause, std::uint64_t begin_ns,
           std::uint64_t end_ns);
  /// When all are added.
  void finish();

  timeline_bars const& bars() const noexcept { return bars_; }  // group: device, name: cause
  bool has_finer() const noexcept { return has_finer_; }        // in windows less is joined
  std::uint64_t finer_below_ns() const noexcept { return finer_.joined_below_ns(); }  // there
  std::uint64_t begin_ns() const noexcept { return begin_; }
  std::uint64_t end_ns() const noexcept { return end_; }

 private:
  std::vector<captured_stretch> windows_;
  timeline_bars bars_, finer_;  // with the same lanes
  bool has_finer_ = false;
  std::uint64_t begin_ = ~std::uint64_t{0}, end_ = 0;
  std::vector<std::pair<std::uint32_t, std::string_view>> lanes_;  // of bars_
  std::size_t last_ = 0;
};

}  // namespace gpuprof::host::page
