// SPDX-License-Identifier: Apache-2.0
// Encodes one column of numbers as bytes that compress well, and decodes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gpuprof::capture {

enum class transform : std::uint8_t { none = 0, delta = 1, delta_of_delta = 2 };

/// How a column is stored. All arithmetic is modulo 2^64; r[i] are the stored residuals of `width`
/// bytes each (0: all are zero and not stored):
///   none            v[i] = base + r[i]
///   delta           v[i] = v[i-1] + base + r[i]                              v[-1] = seed
///   delta_of_delta  s[i] = s[i-1] + base + r[i], v[i] = v[i-1] + s[i]        s[-1] = seed_step
/// Residuals are stored as byte planes: the lowest byte of every row, then the next byte of every
/// row, and so on. This separates noise, slowly changing bytes and zeros for the compressor.
struct column_code {
  transform how = transform::none;
  std::uint8_t width = 0;
  std::uint64_t base = 0;
  std::uint64_t seed = 0;
  std::uint64_t seed_step = 0;

  bool operator==(column_code const&) const = default;
};

/// Chooses the transform from a sample, then base and width from all values.
column_code choose_code(std::span<std::uint64_t const> values) noexcept;

/// Writes code.width * values.size() bytes.
void encode_planes(column_code const& code, std::span<std::uint64_t const> values,
                   unsigned char* planes) noexcept;

/// Reads a column from front to back. `planes` holds code.width * rows bytes and must outlive the
/// cursor.
class column_cursor {
 public:
  column_cursor() = default;
  column_cursor(column_code const& code, unsigned char const* planes, std::size_t rows) noexcept
      : code_(code), planes_(planes), rows_(rows), value_(code.seed), step_(code.seed_step) {}

  /// Reads the next out.size() values. There must be that many left.
  void next(std::span<std::uint64_t> out) noexcept;

  bool is_constant() const noexcept { return code_.how == transform::none && code_.width == 0; }
  std::uint64_t constant() const noexcept { return code_.base; }

 private:
  column_code code_;
  unsigned char const* planes_ = nullptr;
  std::size_t rows_ = 0;
  std::size_t at_ = 0;
  std::uint64_t value_ = 0;
  std::uint64_t step_ = 0;
};

}  // namespace gpuprof::capture
