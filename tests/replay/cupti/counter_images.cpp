// SPDX-License-Identifier: Apache-2.0
#include "replay/cupti/counter_images.hpp"

#include "replay/cupti/image_bytes.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace gpuprof::replay {
namespace {

constexpr char config_mark[8] = {'R', 'P', 'L', 'C', 'F', 'G', '0', '1'};
constexpr char data_mark[8] = {'R', 'P', 'L', 'D', 'A', 'T', '0', '1'};

struct config_header {
  char mark[8];
  std::uint32_t engine;
  std::uint32_t metrics;  // names follow, each with its 0
};

struct data_header {
  char mark[8];
  std::uint32_t max_ranges;
  std::uint32_t ranges;  // slots follow
};

struct slot {
  char name[64];
  counts counted;
};

std::size_t slot_at(std::size_t index) noexcept {
  return sizeof(data_header) + index * sizeof(slot);
}

}  // namespace

std::vector<std::uint8_t> config_image_of(chosen_counters const& chosen) {
  config_header header{};
  std::memcpy(header.mark, config_mark, sizeof header.mark);
  header.engine = static_cast<std::uint32_t>(chosen.engine);
  header.metrics = static_cast<std::uint32_t>(chosen.metrics.size());
  std::vector<std::uint8_t> image(sizeof header);
  write_part(std::span(image), 0, header);
  for (auto const& name : chosen.metrics)
    image.insert(image.end(), name.c_str(), name.c_str() + name.size() + 1);
  return image;
}

std::optional<chosen_counters> read_config_image(std::span<std::uint8_t const> image) {
  if (image.size() < sizeof(config_header)) return std::nullopt;
  auto const header = read_part<config_header>(image, 0);
  if (std::memcmp(header.mark, config_mark, sizeof header.mark) != 0) return std::nullopt;
  chosen_counters chosen{static_cast<CUpti_ProfilerType>(header.engine), {}};
  auto rest = image.subspan(sizeof header);
  while (chosen.metrics.size() < header.metrics) {
    auto const end = std::find(rest.begin(), rest.end(), std::uint8_t{0});
    if (end == rest.end()) return std::nullopt;
    std::string name(rest.begin(), end);
    if (!find_metric(name)) return std::nullopt;
    rest = rest.subspan(name.size() + 1);
    chosen.metrics.push_back(std::move(name));
  }
  if (!rest.empty()) return std::nullopt;
  return chosen;
}

std::size_t counter_data::size_for(std::size_t max_ranges) noexcept {
  return slot_at(max_ranges);
}

std::size_t counter_data::max_ranges_in(std::size_t size) noexcept {
  if (size < slot_at(1) || (size - sizeof(data_header)) % sizeof(slot) != 0) return 0;
  return (size - sizeof(data_header)) / sizeof(slot);
}

void counter_data::initialize(std::span<std::uint8_t> image) {
  std::fill(image.begin(), image.end(), std::uint8_t{0});
  data_header header{};
  std::memcpy(header.mark, data_mark, sizeof header.mark);
  header.max_ranges = static_cast<std::uint32_t>(max_ranges_in(image.size()));
  write_part(image, 0, header);
}

bool counter_data::is_one(std::span<std::uint8_t const> image) noexcept {
  if (max_ranges_in(image.size()) == 0) return false;
  auto const header = read_part<data_header>(image, 0);
  return std::memcmp(header.mark, data_mark, sizeof header.mark) == 0 &&
         header.max_ranges == max_ranges_in(image.size()) && header.ranges <= header.max_ranges;
}

std::size_t counter_data::ranges(std::span<std::uint8_t const> image) noexcept {
  return read_part<data_header>(image, 0).ranges;
}

bool counter_data::add(std::span<std::uint8_t> image, counted_range const& range) {
  auto header = read_part<data_header>(image, 0);
  for (std::uint32_t i = 0; i < header.ranges; ++i) {
    if (range.name != name(image, i)) continue;
    auto known = read_part<slot>(image, slot_at(i));
    for (std::size_t c = 0; c < known.counted.values.size(); ++c)
      if (!std::isnan(range.counted.values[c])) known.counted.values[c] = range.counted.values[c];
    write_part(image, slot_at(i), known);
    return true;
  }
  if (header.ranges == header.max_ranges) return false;
  slot s{};
  range.name.copy(s.name, sizeof s.name - 1);
  s.counted = range.counted;
  write_part(image, slot_at(header.ranges), s);
  ++header.ranges;
  write_part(image, 0, header);
  return true;
}

char const* counter_data::name(std::span<std::uint8_t const> image, std::size_t index) noexcept {
  return reinterpret_cast<char const*>(image.data() + slot_at(index));
}

counts counter_data::counted(std::span<std::uint8_t const> image, std::size_t index) noexcept {
  return read_part<slot>(image, slot_at(index)).counted;
}

}  // namespace gpuprof::replay
