// SPDX-License-Identifier: Apache-2.0
#include "replay/cupti/sample_images.hpp"

#include "replay/cupti/image_bytes.hpp"

#include <algorithm>

namespace gpuprof::replay {
namespace {

constexpr char sample_mark[8] = {'R', 'P', 'L', 'S', 'M', 'P', '0', '1'};

struct sample_header {
  char mark[8];
  std::uint32_t max_samples;
  std::uint32_t samples;  // they follow
};

std::size_t place_of(std::size_t index) noexcept {
  return sizeof(sample_header) + index * sizeof(sample);
}

}  // namespace

std::size_t sample_data::size_for(std::size_t max_samples) noexcept {
  return place_of(max_samples);
}

std::size_t sample_data::max_samples_in(std::size_t size) noexcept {
  if (size < place_of(1) || (size - place_of(0)) % sizeof(sample) != 0) return 0;
  return (size - place_of(0)) / sizeof(sample);
}

void sample_data::initialize(std::span<std::uint8_t> image) {
  std::fill(image.begin(), image.end(), std::uint8_t{0});
  sample_header header{};
  std::copy(std::begin(sample_mark), std::end(sample_mark), header.mark);
  header.max_samples = static_cast<std::uint32_t>(max_samples_in(image.size()));
  write_part(image, 0, header);
}

bool sample_data::is_one(std::span<std::uint8_t const> image) noexcept {
  if (max_samples_in(image.size()) == 0) return false;
  auto const header = read_part<sample_header>(image, 0);
  return std::equal(std::begin(sample_mark), std::end(sample_mark), header.mark) &&
         header.max_samples == max_samples_in(image.size()) && header.samples <= header.max_samples;
}

std::size_t sample_data::samples(std::span<std::uint8_t const> image) noexcept {
  return read_part<sample_header>(image, 0).samples;
}

std::size_t sample_data::room(std::span<std::uint8_t const> image) noexcept {
  auto const header = read_part<sample_header>(image, 0);
  return header.max_samples - header.samples;
}

void sample_data::add(std::span<std::uint8_t> image, sample const& added) {
  auto header = read_part<sample_header>(image, 0);
  write_part(image, place_of(header.samples), added);
  ++header.samples;
  write_part(image, 0, header);
}

sample sample_data::at(std::span<std::uint8_t const> image, std::size_t index) noexcept {
  return read_part<sample>(image, place_of(index));
}

}  // namespace gpuprof::replay
