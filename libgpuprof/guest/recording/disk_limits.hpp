// SPDX-License-Identifier: Apache-2.0
// Decides when a capture has to end so that its file does not fill the disk.
#pragma once

#include "capture/output_file.hpp"
#include "guest/options/settings.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace gpuprof::guest {

/// Pure: no clock, no file.
class disk_limits {
 public:
  explicit disk_limits(settings const& options) noexcept
      : max_size_(options.max_size_bytes), min_free_(options.min_free_bytes) {}

  /// The disk is to be asked now: every two seconds, and at the first call.
  bool is_due(std::uint64_t monotonic_ns) noexcept;

  /// The reason to end, such as "its file has 93.8 MB of the 100 MB of --max-size"; empty: none.
  /// Room is left for the records that come after the end. `is_full`: some had no room already.
  std::string why_too_large(std::uint64_t file_bytes, bool is_full) const;
  std::string why_too_full(capture::disk_space const& disk) const;

 private:
  std::uint64_t min_free(std::uint64_t total) const noexcept;

  std::uint64_t const max_size_;
  std::optional<std::uint64_t> const min_free_;
  std::uint64_t next_ = 0;
};

}  // namespace gpuprof::guest
