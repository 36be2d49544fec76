// SPDX-License-Identifier: Apache-2.0
// Keeps every value of a series for an exact median and sample standard deviation.
#pragma once

#include "model/gpu_work.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace gpuprof::host {

struct statistics {
  std::uint64_t count = 0;
  std::uint64_t total = 0;
  double average = 0;
  double median = 0;
  std::uint64_t minimum = 0;
  std::uint64_t maximum = 0;
  double deviation = 0;  // sample standard deviation (n - 1); 0 for a single value
};

/// Uses four bytes per value that fits in 32 bits, as nearly all durations in ns do. Other values
/// are stored separately.
class samples {
 public:
  void add(std::uint64_t value) {
    if (value <= std::numeric_limits<std::uint32_t>::max())
      small_.push_back(static_cast<std::uint32_t>(value));
    else
      large_.push_back(value);
  }
  /// Adds `count` values of which only the sum is known: each gets the mean.
  void add_mean_of(std::uint64_t sum, std::uint32_t count) {
    for (auto i = 0u; i < count; ++i) add(sum / count + (i < sum % count ? 1 : 0));
  }
  void add_all(samples const& other);
  void reserve(std::size_t count) { small_.reserve(count); }

  std::size_t count() const noexcept { return small_.size() + large_.size(); }

  /// Reorders the stored values. Returns zeros if there are none.
  statistics summarize();

 private:
  std::uint64_t nth_smallest(std::size_t n);

  std::vector<std::uint32_t> small_;
  std::vector<std::uint64_t> large_;  // each larger than any value of `small_`
};

}  // namespace gpuprof::host
