// SPDX-License-Identifier: Apache-2.0
// The two blobs that pass through a client's hands: what to count, and what was counted.
#pragma once

#include "replay/cupti/made_up_counters.hpp"

#include <cupti_profiler_host.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::replay {

/// What a configuration image says.
struct chosen_counters {
  CUpti_ProfilerType engine = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  std::vector<std::string> metrics;  // all of them known
};

std::vector<std::uint8_t> config_image_of(chosen_counters const& chosen);
/// Empty for bytes that are none, or were changed.
std::optional<chosen_counters> read_config_image(std::span<std::uint8_t const> image);

struct counted_range {
  std::string name;
  counts counted{};
};

/// A view of a client's counter data image.
class counter_data {
 public:
  static std::size_t size_for(std::size_t max_ranges) noexcept;
  /// How many ranges an image of this size holds; 0: it is no size of an image.
  static std::size_t max_ranges_in(std::size_t size) noexcept;

  static void initialize(std::span<std::uint8_t> image);
  static bool is_one(std::span<std::uint8_t const> image) noexcept;

  static std::size_t ranges(std::span<std::uint8_t const> image) noexcept;
  /// To what it has of a range of that name. False: it is full.
  static bool add(std::span<std::uint8_t> image, counted_range const& range);
  /// Points into the image.
  static char const* name(std::span<std::uint8_t const> image, std::size_t index) noexcept;
  static counts counted(std::span<std::uint8_t const> image, std::size_t index) noexcept;
};

}  // namespace gpuprof::replay
