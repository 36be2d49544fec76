// SPDX-License-Identifier: Apache-2.0
// Reads and writes parts of a client's buffer, which is aligned to nothing: everything is copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace gpuprof::replay {

template <class Part>
Part read_part(std::span<std::uint8_t const> image, std::size_t at) noexcept {
  Part part;
  std::memcpy(&part, image.data() + at, sizeof part);
  return part;
}

template <class Part>
void write_part(std::span<std::uint8_t> image, std::size_t at, Part const& part) noexcept {
  std::memcpy(image.data() + at, &part, sizeof part);
}

}  // namespace gpuprof::replay
