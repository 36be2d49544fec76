// SPDX-License-Identifier: Apache-2.0
// The counter data image of the sampler: samples in the order in which they were taken.
#pragma once

#include "replay/cupti/made_up_counters.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace gpuprof::replay {

struct sample {
  std::uint64_t start = 0, end = 0;
  counts counted{};
};

/// A view of a client's image. A copy of an initialized one is an initialized one.
class sample_data {
 public:
  static std::size_t size_for(std::size_t max_samples) noexcept;
  /// How many samples an image of this size holds; 0: it is no size of an image.
  static std::size_t max_samples_in(std::size_t size) noexcept;

  static void initialize(std::span<std::uint8_t> image);
  /// False also when it is shorter or longer than it was initialized for.
  static bool is_one(std::span<std::uint8_t const> image) noexcept;

  static std::size_t samples(std::span<std::uint8_t const> image) noexcept;
  static std::size_t room(std::span<std::uint8_t const> image) noexcept;
  /// There must be room.
  static void add(std::span<std::uint8_t> image, sample const&);
  static sample at(std::span<std::uint8_t const> image, std::size_t index) noexcept;
};

}  // namespace gpuprof::replay
