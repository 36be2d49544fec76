// SPDX-License-Identifier: Apache-2.0
// Tells whether a program works steadily.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace gpuprof::guest {

/// A program that starts fills weights, compiles, and tries algorithms: launches come in some
/// tenths of a second and not in others. In steady work each of the last five has at least a
/// quarter as many as any other. One thread at a time.
class recurring_work {
 public:
  static constexpr std::uint64_t slice_ns = 100'000'000;
  static constexpr std::size_t slices = 5;

  /// `launches`: all so far. Call it several times in a slice.
  void note(std::uint64_t now_ns, std::uint64_t launches) noexcept {
    if (begun_ns_ != 0 && now_ns - begun_ns_ < slice_ns) return;
    if (begun_ns_ != 0) latest_[count_++ % slices] = launches - launches_;
    begun_ns_ = now_ns;
    launches_ = launches;
  }
  /// Nothing is known of the time until now.
  void interrupt() noexcept { *this = {}; }
  bool is_steady() const noexcept {
    if (count_ < slices) return false;
    auto const [least, most] = std::minmax_element(latest_.begin(), latest_.end());
    return *least > 0 && 4 * *least >= *most;
  }

 private:
  std::uint64_t begun_ns_ = 0, launches_ = 0;  // of the current slice
  std::array<std::uint64_t, slices> latest_{};
  std::size_t count_ = 0;  // slices that have ended
};

}  // namespace gpuprof::guest
