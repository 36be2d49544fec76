// SPDX-License-Identifier: Apache-2.0
#include "guest/peaks/checks/memory_check.hpp"

#include "guest/peaks/kernels/operands.cuh"

namespace gpuprof::guest::peaks {
namespace {

/// `of(t)` is the sum of thread t.
template <class Of>
std::uint32_t folded(std::uint32_t threads, Of const& of) {
  std::uint32_t fold = 0;
  for (std::uint32_t t = 0; t < threads; ++t) fold += of(t) * (2 * t + 1);
  return fold;
}

std::uint32_t sum_of_quad(std::uint32_t seed, std::uint64_t quad) {
  std::uint32_t sum = 0;
  for (unsigned i = 0; i < 4; ++i) sum += filled_word(seed, quad * 4 + i);
  return sum;
}

}  // namespace

std::uint32_t filled_word(std::uint32_t seed, std::uint64_t place) noexcept {
  return (scrambled(seed, static_cast<std::uint32_t>(place)) & 0x80FFFFFFu) + 0x3E800000u;
}

std::uint32_t written_word(std::uint32_t seed, std::uint64_t place) noexcept {
  auto const h = static_cast<std::uint32_t>(place / 4) * 0x9E3779B9u + seed;
  std::uint32_t const words[] = {h, ~h, h ^ 0x5A5A5A5Au, h + 0x01234567u};
  return words[place % 4];
}

std::uint32_t filled_sum(std::uint32_t seed, std::uint64_t words) noexcept {
  std::uint32_t sum = 0;
  for (std::uint64_t i = 0; i < words; ++i) sum += filled_word(seed, i);
  return sum;
}

std::vector<std::uint32_t> l2_read_folds(std::uint32_t seed, std::uint64_t bytes, unsigned blocks) {
  constexpr std::uint32_t threads = 512;
  constexpr std::uint64_t chunk = 2048;  // 16-byte units
  std::vector<std::uint32_t> folds(blocks);
  for (unsigned b = 0; b < blocks; ++b) {
    folds[b] = folded(threads, [&](std::uint32_t t) {
      std::uint32_t sum = 0;
      for (auto at = b * chunk; at < bytes / 16; at += blocks * chunk) {
        for (auto quad = at + t; quad < at + chunk; quad += threads) sum += sum_of_quad(seed, quad);
      }
      return sum;
    });
  }
  return folds;
}

std::uint32_t local_read_fold(std::uint32_t seed, std::uint64_t iterations) {
  constexpr std::uint32_t threads = 256;
  return folded(threads, [&](std::uint32_t t) {
    std::uint32_t sum = 0;
    for (unsigned round = 0; round < 4; ++round) {
      for (unsigned load = 0; load < 4; ++load)
        sum += sum_of_quad(seed, (round + load) * threads + t);
    }
    return sum * static_cast<std::uint32_t>(iterations);
  });
}

std::uint32_t shared_write_fold(std::uint32_t seed, std::uint64_t iterations) {
  return folded(256, [&](std::uint32_t t) {
    auto const last = static_cast<std::uint32_t>(4 * (iterations - 1) + 1);
    auto const h = scrambled(seed, t) + last * 0x9E3779B9u;
    return h + 3 * ~h + 5 * h + 7 * ~h;
  });
}

}  // namespace gpuprof::guest::peaks
