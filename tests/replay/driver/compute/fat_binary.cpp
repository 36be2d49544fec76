// SPDX-License-Identifier: Apache-2.0
#include "replay/driver/compute/fat_binary.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace gpuprof::replay {
namespace {

template <class T>
T at(std::byte const* bytes, std::size_t offset) {
  T value{};
  std::memcpy(&value, bytes + offset, sizeof value);
  return value;
}

}  // namespace

// A header of 16 bytes, then entries: kind, length of the entry's header, length of its content,
// and further on the chip and flags.
std::vector<code_target> targets_of(void const* image) {
  constexpr std::uint32_t magic = 0xBA55ED50u, chip_alone = 0x100000u;
  constexpr std::uint16_t kind_ptx = 1;
  auto const* const bytes = static_cast<std::byte const*>(image);
  std::vector<code_target> targets;
  if (at<std::uint32_t>(bytes, 0) != magic) return targets;
  auto const end = 16 + at<std::uint64_t>(bytes, 8);
  for (std::uint64_t entry = 16; entry < end;) {
    auto const* const header = bytes + entry;
    targets.push_back({at<std::uint32_t>(header, 28), at<std::uint16_t>(header, 0) == kind_ptx,
                       (at<std::uint32_t>(header, 40) & chip_alone) != 0});
    entry += at<std::uint32_t>(header, 4) + at<std::uint64_t>(header, 8);
  }
  return targets;
}

bool runs_on(std::vector<code_target> const& targets, unsigned chip, bool takes_ptx) noexcept {
  return std::any_of(targets.begin(), targets.end(), [&](code_target const& t) {
    if (t.is_of_this_chip) return t.chip == chip;
    if (t.is_ptx) return takes_ptx && t.chip <= chip;
    return t.chip / 10 == chip / 10 && t.chip <= chip;
  });
}

}  // namespace gpuprof::replay
