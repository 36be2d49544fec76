// SPDX-License-Identifier: Apache-2.0
#include "guest/metrics/inventory/elf_image.hpp"

#include <algorithm>

namespace gpuprof::guest {
namespace {

constexpr std::size_t header_bytes = 64, section_bytes = 64;
constexpr std::uint8_t start[] = {0x7f, 'E', 'L', 'F', 2, 1};  // 64 bits, little-endian
constexpr std::uint32_t without_content = 8;                   // SHT_NOBITS

}  // namespace

std::optional<elf_image> elf_image::open(bytes image) noexcept {
  if (image.size() < header_bytes || !std::equal(std::begin(start), std::end(start), image.begin()))
    return std::nullopt;
  elf_image elf(image);
  elf.machine_ = number_at<std::uint16_t>(image, 18);
  elf.table_ = number_at<std::uint64_t>(image, 40);
  elf.flags_ = number_at<std::uint32_t>(image, 48);
  if (number_at<std::uint16_t>(image, 58) != section_bytes) return std::nullopt;
  elf.sections_ = number_at<std::uint16_t>(image, 60);
  elf.names_ = number_at<std::uint16_t>(image, 62);
  if (elf.table_ > image.size()) return std::nullopt;
  auto const room = (image.size() - elf.table_) / section_bytes;
  // If there are too many sections for the header, the first section holds these values.
  if (elf.sections_ == 0 && room > 0)
    elf.sections_ = number_at<std::uint64_t>(image, elf.table_ + 32);
  if (elf.names_ == 0xffff && room > 0)
    elf.names_ = number_at<std::uint32_t>(image, elf.table_ + 40);
  if (elf.sections_ == 0 || elf.sections_ > room || elf.names_ >= elf.sections_)
    return std::nullopt;
  return elf;
}

elf_image::section elf_image::at(std::size_t index) const noexcept {
  auto const read = [&](std::size_t i, std::uint32_t& name) {
    auto const at = table_ + i * section_bytes;
    name = number_at<std::uint32_t>(image_, at);
    return section{{},
                   number_at<std::uint32_t>(image_, at + 4),
                   number_at<std::uint64_t>(image_, at + 24),
                   number_at<std::uint64_t>(image_, at + 32),
                   number_at<std::uint32_t>(image_, at + 40)};
  };
  std::uint32_t name = 0, unused = 0;
  auto found = read(index, name);
  found.name = text_at(read(names_, unused), name);
  return found;
}

std::optional<elf_image::bytes> elf_image::content(section const& of) const noexcept {
  if (of.type == without_content || of.offset > image_.size() ||
      of.size > image_.size() - of.offset)
    return std::nullopt;
  return image_.subspan(of.offset, of.size);
}

std::string_view elf_image::text_at(section const& table, std::uint64_t offset) const noexcept {
  auto const texts = content(table);
  if (!texts || offset >= texts->size()) return {};
  auto const* const from = reinterpret_cast<char const*>(texts->data()) + offset;
  auto const length = strnlen(from, texts->size() - offset);
  return length == texts->size() - offset ? std::string_view() : std::string_view(from, length);
}

std::optional<elf_image::symbol> elf_image::symbol_at(section const& table,
                                                      std::size_t index) const noexcept {
  auto const symbols = content(table);
  if (!symbols || index >= symbols->size() / symbol_bytes || table.link >= sections_)
    return std::nullopt;
  auto const at = index * symbol_bytes;
  return symbol{text_at(this->at(table.link), number_at<std::uint32_t>(*symbols, at)),
                number_at<std::uint16_t>(*symbols, at + 6)};
}

}  // namespace gpuprof::guest
