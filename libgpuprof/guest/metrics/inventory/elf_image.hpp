// SPDX-License-Identifier: Apache-2.0
// A view of a 64-bit ELF file that may be damaged: it never reads outside of the file. Pure.
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
    std::string_view name;  // empty if the file holds no name
    std::uint32_t type = 0;
    std::uint64_t offset = 0, size = 0;
    std::uint32_t link = 0;
  };
  struct symbol {
    std::string_view name;
    std::uint16_t section = 0;  // 0: in no section of this file
  };

  /// Returns nothing if this is not a little-endian 64-bit ELF file, or if its section table is not
  /// whole.
  static std::optional<elf_image> open(bytes image) noexcept;

  std::uint16_t machine() const noexcept { return machine_; }
  std::uint32_t flags() const noexcept { return flags_; }
  std::uint8_t abi_version() const noexcept { return image_[8]; }

  std::size_t sections() const noexcept { return sections_; }
  section at(std::size_t index) const noexcept;
  /// Returns nothing if the content is not fully inside the file.
  std::optional<bytes> content(section const& of) const noexcept;
  /// Reads an entry of a symbol table.
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

/// Reads a little-endian number. The caller has checked that it is inside `bytes`.
template <class T>
T number_at(std::span<std::uint8_t const> bytes, std::size_t offset) noexcept {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

}  // namespace gpuprof::guest
