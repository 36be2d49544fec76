// SPDX-License-Identifier: Apache-2.0
// A view of an ELF file of 64 bits that may be damaged: nothing outside of it is ever read. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace gpuprof::guest {

class elf_image {
 public:
  using bytes = std::span<std::uint8_t const>;
  static constexpr std::uint16_t machine_cuda = 190;
  static constexpr std::size_t symbol_bytes = 24;

  struct section {
    std::string_view name;  // empty: it has none inside the file
    std::uint32_t type = 0;
    std::uint64_t offset = 0, size = 0;
    std::uint32_t link = 0;
  };
  struct symbol {
    std::string_view name;
    std::uint16_t section = 0;  // 0: of no section here
  };

  /// Nothing where it is no little-endian ELF file of 64 bits, or its table of sections is not
  /// whole.
  static std::optional<elf_image> open(bytes image) noexcept;

  std::uint16_t machine() const noexcept { return machine_; }
  std::uint32_t flags() const noexcept { return flags_; }
  std::uint8_t abi_version() const noexcept { return image_[8]; }

  std::size_t sections() const noexcept { return sections_; }
  section at(std::size_t index) const noexcept;
  /// Nothing where it is not whole.
  std::optional<bytes> content(section const& of) const noexcept;
  /// Of a symbol table.
  std::optional<symbol> symbol_at(section const& table, std::size_t index) const noexcept;

 private:
  explicit elf_image(bytes image) noexcept : image_(image) {}
  std::string_view text_at(section const& table, std::uint64_t offset) const noexcept;

  bytes image_;
  std::uint64_t table_ = 0;
  std::size_t sections_ = 0, names_ = 0;
  std::uint16_t machine_ = 0;
  std::uint32_t flags_ = 0;
};

/// A little-endian number; the caller has looked that it is there.
template <class T>
T number_at(std::span<std::uint8_t const> bytes, std::size_t offset) noexcept {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

}  // namespace gpuprof::guest
