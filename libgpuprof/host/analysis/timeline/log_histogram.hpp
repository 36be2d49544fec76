// SPDX-License-Identifier: Apache-2.0
// Computes quantiles of any number of durations in constant memory, within 3 %.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace gpuprof::host {

/// Uses sixteen classes for each power of two of nanoseconds.
class log_histogram {
 public:
  void add(std::uint64_t ns) noexcept {
    ++counts_[class_of(ns)];
    ++total_;
  }
  std::uint64_t count() const noexcept { return total_; }
  /// `share` is from 0 to 1. Returns nothing if no duration was added.
  std::optional<double> quantile(double share) const noexcept {
    if (total_ == 0) return std::nullopt;
    auto const wanted = static_cast<std::uint64_t>(share * static_cast<double>(total_ - 1));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen > wanted) return middle_of(i);
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t fine_bits = 4, fine = std::size_t{1} << fine_bits;
  static std::size_t class_of(std::uint64_t ns) noexcept {
    if (ns < fine) return ns;
    auto const power = static_cast<std::size_t>(std::bit_width(ns)) - 1;  // 4 to 63
    auto const low = (ns >> (power - fine_bits)) & (fine - 1);
    return (power - fine_bits + 1) * fine + low;
  }
  static double middle_of(std::size_t index) noexcept {
    if (index < fine) return static_cast<double>(index);
    auto const power = index / fine + fine_bits - 1;
    auto const width = static_cast<double>(std::uint64_t{1} << (power - fine_bits));
    return (static_cast<double>(fine + index % fine) + 0.5) * width;
  }

  std::array<std::uint64_t, (64 - fine_bits + 1) * fine> counts_{};
  std::uint64_t total_ = 0;
};

}  // namespace gpuprof::host
