// SPDX-License-Identifier: Apache-2.0
#include "guest/recording/disk_limits.hpp"

#include "base/readable.hpp"
#include "base/time.hpp"

namespace gpuprof::guest {
namespace {

constexpr std::uint64_t ask_disk_every_ns = 2 * ns_per_second;
constexpr std::uint64_t usual_min_free = std::uint64_t{1} << 30;
constexpr std::uint64_t usual_min_free_percent = 1;
// For the records that are still under way when the capture ends, as a part of the limit.
constexpr std::uint64_t part_for_the_end = 16;
constexpr std::uint64_t max_for_the_end = 8 << 20;

std::string in_words(std::uint64_t bytes) {
  return readable_bytes(static_cast<double>(bytes));
}

}  // namespace

bool disk_limits::is_due(std::uint64_t monotonic_ns) noexcept {
  if (min_free_ == 0 || monotonic_ns < next_) return false;
  next_ = monotonic_ns + ask_disk_every_ns;
  return true;
}

std::string disk_limits::why_too_large(std::uint64_t file_bytes, bool is_full) const {
  auto const for_the_end = std::min(max_size_ / part_for_the_end, max_for_the_end);
  if (!is_full && (max_size_ == 0 || file_bytes + for_the_end < max_size_)) return {};
  return "its file has " + in_words(file_bytes) + " of the " + in_words(max_size_) +
         " of --max-size";
}

std::string disk_limits::why_too_full(capture::disk_space const& disk) const {
  auto const least = min_free(disk.total);
  if (disk.free >= least) return {};
  return in_words(disk.free) + " are free on its disk, less than the " + in_words(least) +
         " of --min-free-space";
}

std::uint64_t disk_limits::min_free(std::uint64_t total) const noexcept {
  return min_free_.value_or(std::min(usual_min_free, total / 100 * usual_min_free_percent));
}

}  // namespace gpuprof::guest
