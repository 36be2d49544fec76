// SPDX-License-Identifier: Apache-2.0
// Tells how long a program has been working steadily.
#pragma once

#include <cstdint>

namespace gpuprof::guest {

/// A program that starts launches some kernels now and then, to fill weights or to choose an
/// algorithm. Once it works there are launches in each tenth of a second. One thread at a time.
class recurring_work {
 public:
  static constexpr std::uint64_t slice_ns = 100'000'000;

  /// `launches`: all so far. Call it several times in a slice.
  void note(std::uint64_t now_ns, std::uint64_t launches) noexcept {
    if (begun_ns_ != 0 && now_ns - begun_ns_ < slice_ns) return;
    lasted_ns_ = begun_ns_ != 0 && launches > launches_ ? lasted_ns_ + now_ns - begun_ns_ : 0;
    begun_ns_ = now_ns;
    launches_ = launches;
  }
  /// How long launches have come in each slice without a break.
  std::uint64_t lasted_ns() const noexcept { return lasted_ns_; }

 private:
  std::uint64_t begun_ns_ = 0, launches_ = 0;  // of the current slice
  std::uint64_t lasted_ns_ = 0;
};

}  // namespace gpuprof::guest
