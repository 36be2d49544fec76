// SPDX-License-Identifier: Apache-2.0
#include "capture/column_code.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

namespace gpuprof::capture {
namespace {

using u64 = std::uint64_t;
using i64 = std::int64_t;

// The transformed value of row i. Must not be called for rows without enough predecessors.
template <transform How>
u64 transformed(u64 const* v, std::size_t i) noexcept {
  if constexpr (How == transform::none) return v[i];
  if constexpr (How == transform::delta) return v[i] - v[i - 1];
  if constexpr (How == transform::delta_of_delta) return (v[i] - v[i - 1]) - (v[i - 1] - v[i - 2]);
}

template <transform How>
inline constexpr std::size_t predecessors = static_cast<std::size_t>(How);

// Calls f with the transform as a compile-time constant.
template <class F>
auto dispatch(transform how, F&& f) noexcept {
  switch (how) {
    case transform::delta:
      return f(std::integral_constant<transform, transform::delta>{});
    case transform::delta_of_delta:
      return f(std::integral_constant<transform, transform::delta_of_delta>{});
    case transform::none:
      break;
  }
  return f(std::integral_constant<transform, transform::none>{});
}

bool all_equal(std::span<u64 const> values) noexcept {
  u64 different = 0;
  for (auto const v : values) different |= v ^ values[0];
  return different == 0;
}

constexpr std::size_t sample_run = 64;
constexpr std::size_t sample_runs = 4;

// Counts the bits that a sample needs for the noise around its median, which the compressor cannot
// remove. Rare outliers (pauses) count little, unlike in the range from least to greatest.
template <transform How>
std::size_t noise_bits(std::span<u64 const> values) noexcept {
  std::array<i64, sample_run * sample_runs> sample;
  std::size_t count = 0;
  auto const runs = values.size() <= sample.size() ? 1 : sample_runs;
  auto const length = runs == 1 ? values.size() : sample_run;
  for (std::size_t run = 0; run < runs; ++run) {
    auto const first = runs == 1 ? 0 : run * (values.size() - length) / (runs - 1);
    for (std::size_t i = 2; i < length; ++i) {
      sample[count++] = static_cast<i64>(transformed<How>(values.data(), first + i));
    }
  }
  auto const middle = sample.begin() + static_cast<std::ptrdiff_t>(count / 2);
  std::nth_element(sample.begin(), middle, sample.begin() + static_cast<std::ptrdiff_t>(count));
  std::size_t bits = 0;
  for (std::size_t i = 0; i < count; ++i) {
    auto const above = sample[i] >= *middle;
    auto const distance = above ? static_cast<u64>(sample[i]) - static_cast<u64>(*middle)
                                : static_cast<u64>(*middle) - static_cast<u64>(sample[i]);
    bits += static_cast<std::size_t>(std::bit_width(distance));
  }
  return bits;
}

transform choose_transform(std::span<u64 const> values) noexcept {
  if (values.size() < 4) return transform::none;
  auto const none = noise_bits<transform::none>(values);
  auto const delta = noise_bits<transform::delta>(values);
  auto const second = noise_bits<transform::delta_of_delta>(values);
  // If the results are close, prefers the simpler transform: it decodes faster and does not double
  // independent noise.
  auto const best_with_delta = std::min(delta, second + second / 16);
  if (none <= best_with_delta + best_with_delta / 16) return transform::none;
  return delta <= second + second / 16 ? transform::delta : transform::delta_of_delta;
}

template <transform How>
column_code fit(std::span<u64 const> values) noexcept {
  auto least = std::numeric_limits<i64>::max();
  auto greatest = std::numeric_limits<i64>::min();
  for (std::size_t i = predecessors<How>; i < values.size(); ++i) {
    auto const x = static_cast<i64>(transformed<How>(values.data(), i));
    least = std::min(least, x);
    greatest = std::max(greatest, x);
  }
  auto const base = static_cast<u64>(least);
  auto const span = static_cast<u64>(greatest) - base;
  column_code code{
      .how = How, .width = static_cast<std::uint8_t>((std::bit_width(span) + 7) / 8), .base = base};
  // Seeds are chosen so that rows without predecessors have a residual of zero.
  if constexpr (How == transform::delta) code.seed = values[0] - base;
  if constexpr (How == transform::delta_of_delta) {
    auto const step0 = values[1] - values[0] - base;
    code.seed_step = step0 - base;
    code.seed = values[0] - step0;
  }
  return code;
}

constexpr std::size_t tile = 512;

void split(std::span<u64 const> residuals, std::size_t width, std::size_t rows,
           unsigned char* planes) noexcept {
  for (std::size_t p = 0; p < width; ++p) {
    auto* const plane = planes + p * rows;
    for (std::size_t i = 0; i < residuals.size(); ++i) {
      plane[i] = static_cast<unsigned char>(residuals[i] >> (8 * p));
    }
  }
}

}  // namespace

column_code choose_code(std::span<u64 const> values) noexcept {
  if (values.empty()) return {};
  if (all_equal(values)) return {.base = values[0]};
  return dispatch(choose_transform(values), [&](auto how) { return fit<how.value>(values); });
}

void encode_planes(column_code const& code, std::span<u64 const> values,
                   unsigned char* planes) noexcept {
  if (code.width == 0) return;
  dispatch(code.how, [&](auto how) {
    std::array<u64, tile> residuals;
    for (std::size_t first = 0; first < values.size(); first += tile) {
      auto const count = std::min(tile, values.size() - first);
      std::size_t i = 0;
      for (; first + i < predecessors<how.value> && i < count; ++i) residuals[i] = 0;
      for (; i < count; ++i) {
        residuals[i] = transformed<how.value>(values.data(), first + i) - code.base;
      }
      split({residuals.data(), count}, code.width, values.size(), planes + first);
    }
  });
}

void column_cursor::next(std::span<u64> out) noexcept {
  for (auto& v : out) v = code_.base;
  for (std::size_t p = 0; p < code_.width; ++p) {
    auto const* const plane = planes_ + p * rows_ + at_;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += u64{plane[i]} << (8 * p);
  }
  at_ += out.size();
  if (code_.how == transform::none) return;
  auto value = value_;
  if (code_.how == transform::delta) {
    for (auto& v : out) v = value += v;
  } else {
    auto step = step_;
    for (auto& v : out) v = value += step += v;
    step_ = step;
  }
  value_ = value;
}

}  // namespace gpuprof::capture
