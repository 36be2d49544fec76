// SPDX-License-Identifier: Apache-2.0
#include "replay/driver/compute/memory_kernels.hpp"

#include "guest/peaks/kernels/operands.cuh"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

namespace gpuprof::replay {
using namespace guest;
namespace {

using peaks::kernel_arguments;
using quad = std::array<std::uint32_t, 4>;  // 16 bytes: what a thread moves at a time

constexpr std::uint64_t chunk = 2048;  // quads that a block takes at a time
constexpr unsigned local_threads = 256;

std::uint32_t sum(quad const& v) {
  return v[0] + v[1] + v[2] + v[3];
}

quad read_quad(void const* from, std::uint64_t place) {
  quad v;
  std::memcpy(&v, static_cast<std::byte const*>(from) + place * sizeof v, sizeof v);
  return v;
}
void write_quad(void* to, std::uint64_t place, quad const& v) {
  std::memcpy(static_cast<std::byte*>(to) + place * sizeof v, &v, sizeof v);
}

/// A float of random mantissa and sign, of exponent 125 or 126.
std::uint32_t random_float(kernel_arguments const& a, std::uint64_t place) {
  if (a.zeros != 0) return 0;
  auto const h = peaks::scrambled(a.seed, static_cast<std::uint32_t>(place));
  return (h & 0x80FFFFFFu) + 0x3E800000u;
}

quad random_quad(kernel_arguments const& a, std::uint64_t place) {
  return {random_float(a, 4 * place), random_float(a, 4 * place + 1),
          random_float(a, 4 * place + 2), random_float(a, 4 * place + 3)};
}

quad written_quad(kernel_arguments const& a, std::uint64_t place) {
  if (a.zeros != 0) return {};
  auto const h = static_cast<std::uint32_t>(place) * 0x9E3779B9u + a.seed;
  return {h, ~h, h ^ 0x5A5A5A5Au, h + 0x01234567u};
}

quad triad(quad const& b, quad const& c) {
  quad sums;
  for (unsigned i = 0; i < 4; ++i) {
    float x = 0, y = 0;
    std::memcpy(&x, &b[i], sizeof x);
    std::memcpy(&y, &c[i], sizeof y);
    auto const s = std::fma(3.0f, y, x);
    std::memcpy(&sums[i], &s, sizeof s);
  }
  return sums;
}

// Folds ----------------------------------------------------------------------

std::uint32_t weighted(std::uint32_t total, unsigned thread) {
  return total * (2 * thread + 1);
}

/// `quad_at` gives what lies at a byte offset of the 28 KiB.
template <class QuadAt>
std::uint32_t local_read_fold(kernel_arguments const& a, QuadAt const& quad_at) {
  std::uint32_t fold = 0;
  for (unsigned thread = 0; thread < local_threads; ++thread) {
    std::uint32_t at = 0, total = 0;
    for (std::uint64_t i = 0; i < a.iterations; ++i) {
      for (unsigned round = 0; round < 4; ++round) {
        for (unsigned load = 0; load < 4; ++load)
          total += sum(quad_at(thread * 16 + at + load * 4096));
        at = (at + 4096) & 0x3FFF;
      }
    }
    fold += weighted(total, thread);
  }
  return fold;
}

std::uint32_t shared_write_fold(kernel_arguments const& a) {
  std::vector<quad> memory(7 * local_threads);
  for (unsigned thread = 0; thread < local_threads; ++thread) {
    std::uint32_t h = a.zeros != 0 ? 0 : peaks::scrambled(a.seed, thread), at = 0;
    for (std::uint64_t i = 0; i < a.iterations; ++i) {
      for (unsigned round = 0; round < 4; ++round) {
        h += a.zeros != 0 ? 0 : 0x9E3779B9u;
        for (unsigned store = 0; store < 4; ++store)
          memory[(thread * 16 + at + store * 4096) / 16] = {h, ~h, h, ~h};
        at = (at + 4096) & 0x3FFF;
      }
    }
  }
  std::uint32_t fold = 0;
  for (unsigned thread = 0; thread < local_threads; ++thread) {
    auto const& v = memory[thread];
    fold += weighted(v[0] + 3 * v[1] + 5 * v[2] + 7 * v[3], thread);
  }
  return fold;
}

/// Once every block has been through its chunks there is nothing new to write.
void write_in_l2(unsigned blocks, kernel_arguments const& a) {
  auto const chunks = a.bytes / (chunk * sizeof(quad));
  auto const reached = std::min(chunks, a.iterations * blocks);
  for (std::uint64_t p = 0; p < reached * chunk; ++p) write_quad(a.output, p, written_quad(a, p));
}

constexpr std::array memory_kernels{"memory_fill", "dram_read",   "dram_write", "dram_copy",
                                    "dram_triad",  "l2_read",     "l2_write",   "l1_read",
                                    "shared_read", "shared_write"};

}  // namespace

bool is_memory_kernel(std::string_view kernel) noexcept {
  return std::find(memory_kernels.begin(), memory_kernels.end(), kernel) != memory_kernels.end();
}

double memory_work(std::string_view kernel) {
  constexpr double chunk_bytes = chunk * sizeof(quad), local_bytes = 16 * 16 * local_threads;
  if (kernel == "dram_copy") return 2 * chunk_bytes;
  if (kernel == "dram_triad") return 3 * chunk_bytes;
  return kernel.starts_with("l1_") || kernel.starts_with("shared_") ? local_bytes : chunk_bytes;
}

touched_bytes touched_by(std::string_view kernel, unsigned blocks,
                         kernel_arguments const& a) noexcept {
  auto const all = std::uint64_t{blocks} * chunk * sizeof(quad);
  if (kernel == "memory_fill" || kernel == "dram_write") return {0, all};
  if (kernel == "dram_read") return {all, a.check != 0 ? 4u : 0u};
  if (kernel == "dram_copy") return {all, all};
  if (kernel == "dram_triad") return {a.bytes / 3 + all, all};
  if (kernel == "l2_read") return {a.bytes, 0};
  if (kernel == "l2_write") return {0, a.bytes};
  if (kernel == "l1_read") return {28 * 1024, 0};
  return {};
}

void run_on_memory(std::string_view kernel, unsigned blocks, kernel_arguments const& a) {
  auto const quads = blocks * chunk;
  if (kernel == "memory_fill") {
    for (std::uint64_t p = 0; p < quads; ++p) write_quad(a.output, p, random_quad(a, p));
  } else if (kernel == "dram_read" && a.check != 0) {
    std::uint32_t total = 0;
    std::memcpy(&total, a.output, sizeof total);
    for (std::uint64_t p = 0; p < quads; ++p) total += sum(read_quad(a.input, p));
    std::memcpy(a.output, &total, sizeof total);
  } else if (kernel == "dram_write") {
    for (std::uint64_t p = 0; p < quads; ++p) write_quad(a.output, p, written_quad(a, p));
  } else if (kernel == "dram_copy") {
    for (std::uint64_t p = 0; p < quads; ++p) write_quad(a.output, p, read_quad(a.input, p));
  } else if (kernel == "dram_triad") {
    auto const third = a.bytes / 3 / sizeof(quad);
    for (std::uint64_t p = 0; p < quads; ++p)
      write_quad(a.output, p, triad(read_quad(a.input, p), read_quad(a.input, third + p)));
  } else if (kernel == "l2_write") {
    write_in_l2(blocks, a);
  }
}

std::uint32_t fold_of_blocks(std::string_view kernel, kernel_arguments const& a) {
  if (kernel == "l1_read")
    return local_read_fold(a, [&](unsigned byte) { return read_quad(a.input, byte / 16); });
  if (kernel == "shared_read")
    return local_read_fold(a, [&](unsigned byte) { return random_quad(a, byte / 16); });
  if (kernel == "shared_write") return shared_write_fold(a);
  return 0;
}

std::uint32_t l2_read_fold(unsigned block, unsigned blocks, kernel_arguments const& a) {
  auto const each = a.bytes / (chunk * sizeof(quad)) / blocks;  // chunks of a block
  auto const rounds = a.iterations / each, rest = a.iterations % each;
  std::uint32_t fold = 0;
  for (unsigned thread = 0; thread < 512; ++thread) {
    std::uint32_t total = 0;
    for (std::uint64_t i = 0; i < each; ++i) {
      auto const times = static_cast<std::uint32_t>(rounds + (i < rest));
      for (unsigned u = 0; u < 4; ++u)
        total += times * sum(read_quad(a.input, (block + i * blocks) * chunk + u * 512 + thread));
    }
    fold += weighted(total, thread);
  }
  return fold;
}

}  // namespace gpuprof::replay
