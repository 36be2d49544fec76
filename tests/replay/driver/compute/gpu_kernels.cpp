// SPDX-License-Identifier: Apache-2.0
#include "replay/driver/compute/gpu_kernels.hpp"

#include "guest/peaks/theory/theory.hpp"
#include "replay/driver/compute/core_kernels.hpp"
#include "replay/driver/compute/gpu_options.hpp"
#include "replay/driver/compute/memory_kernels.hpp"
#include "replay/driver/compute/tensor_kernels.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace gpuprof::replay {
using namespace guest;
namespace {

using peaks::block_span;
using peaks::test_id;

/// Kernels that not every chip with their image has.
struct limited_kernel {
  std::string_view name;
  unsigned from, to;
};
constexpr std::array limited{
    limited_kernel{"cores_bf16", 80, 999},     limited_kernel{"cores_fp32_pairs", 100, 999},
    limited_kernel{"mma_turing_fp16", 75, 79}, limited_kernel{"mma_turing_fp16_acc16", 75, 79},
    limited_kernel{"mma_turing_int8", 75, 79}, limited_kernel{"mma_fp16", 80, 999},
    limited_kernel{"mma_fp16_acc16", 80, 999}, limited_kernel{"mma_bf16", 80, 999},
    limited_kernel{"mma_tf32", 80, 999},       limited_kernel{"mma_int8", 80, 999},
    limited_kernel{"mma_fp64", 80, 999},       limited_kernel{"mma_fp64_large", 90, 90},
    limited_kernel{"mma_fp8", 89, 89},         limited_kernel{"tcgen05_int8", 100, 100},
};

struct unit_of_kernel {
  std::string_view part;  // of the kernel's name
  test_id test;
};
constexpr std::array units{
    unit_of_kernel{"cores_fp64", test_id::fp64},
    unit_of_kernel{"cores_fp32", test_id::fp32},
    unit_of_kernel{"cores_fp16", test_id::fp16},
    unit_of_kernel{"cores_bf16", test_id::bf16},
    unit_of_kernel{"cores_int32", test_id::int32},
    unit_of_kernel{"cores_special", test_id::special},
    unit_of_kernel{"_acc16", test_id::tensor_fp16_acc16},
    unit_of_kernel{"_fp64", test_id::tensor_fp64},
    unit_of_kernel{"_tf32", test_id::tensor_tf32},
    unit_of_kernel{"_fp16", test_id::tensor_fp16},
    unit_of_kernel{"_bf16", test_id::tensor_bf16},
    unit_of_kernel{"_fp8", test_id::tensor_fp8},
    unit_of_kernel{"_int8", test_id::tensor_int8},
    unit_of_kernel{"_fp6", test_id::tensor_fp6},
    unit_of_kernel{"_fp4", test_id::tensor_fp4},
};

constexpr double bytes_of_dram = 4.5;  // in a picosecond
constexpr double l2_bytes_of_sm = 40, local_bytes_of_sm = 128;

bool is_dram_kernel(std::string_view kernel) {
  return kernel.starts_with("dram_") || kernel == "memory_fill";
}
bool is_latency_kernel(std::string_view kernel) {
  return kernel == "nothing" || kernel == "tell_host";
}

double work_of_iteration(std::string_view kernel) {
  if (is_core_kernel(kernel)) return core_work(kernel);
  if (is_tensor_kernel(kernel)) return tensor_work(kernel);
  return memory_work(kernel);
}

/// In one cycle of one SM, by the datasheets; chips that are newer are as Hopper.
double rate_of_sm(std::string_view kernel, int major, int minor) {
  if (kernel.starts_with("l2_")) return l2_bytes_of_sm;
  if (is_memory_kernel(kernel)) return local_bytes_of_sm;
  auto const* rates = peaks::rates_of_chip(major, minor);
  if (rates == nullptr) rates = peaks::rates_of_chip(9, 0);
  auto const unit = std::find_if(units.begin(), units.end(), [&](unit_of_kernel const& u) {
    return kernel.find(u.part) != std::string_view::npos;
  });
  auto const rate =
      unit == units.end() ? 0 : rates->operations[static_cast<std::size_t>(unit->test)];
  return rate > 0 ? rate : 128;
}

constexpr double reached = 0.985;  // of the theory; real kernels reach 96 to 100 %

std::uint32_t mixed(std::string_view kernel, std::uint64_t iterations) {
  std::uint32_t fold = 2166136261u;
  for (auto const c : kernel) fold = (fold ^ static_cast<unsigned char>(c)) * 16777619u;
  return fold + static_cast<std::uint32_t>(iterations) * 0x9E3779B9u;
}

/// What a check needs: chains or accumulators.
void store_result(grid const& what) {
  auto const& a = what.arguments;
  auto bytes = is_core_kernel(what.kernel)
                   ? chains_of(what.kernel, a.seed, a.iterations)
                   : stored(what.kernel, multiplied(what.kernel, a.seed, a.iterations));
  if (options().is_wrong(what.kernel)) bytes[bytes.size() / 2 - 1] ^= std::byte{0x40};
  std::memcpy(a.output, bytes.data(), bytes.size());
}

/// Loops that are too long to be followed get a fold that is the same for all blocks.
std::vector<std::uint32_t> folds_of(grid const& what) {
  auto const& a = what.arguments;
  std::vector<std::uint32_t> folds;
  if (what.kernel == "l2_read") {
    for (unsigned b = 0; b < what.blocks; ++b) folds.push_back(l2_read_fold(b, what.blocks, a));
  } else if (is_memory_kernel(what.kernel) && a.iterations <= 8) {
    folds.push_back(fold_of_blocks(what.kernel, a));
  } else {
    folds.push_back(mixed(what.kernel, a.iterations));
  }
  if (options().is_wrong(what.kernel))
    for (auto& fold : folds) ++fold;
  return folds;
}

void write_edges(grid const& what, double start_ns, double end_ns, unsigned sm_count) {
  auto const timed = what.arguments.iterations;
  auto const of_block = (end_ns - start_ns) / what.blocks;
  for (std::uint64_t i = 0; i < timed; ++i) {
    auto& first = what.arguments.spans[i];
    first.start_time = static_cast<std::uint64_t>(start_ns + of_block * static_cast<double>(i));
    first.sm = static_cast<std::uint32_t>(i % sm_count);
    auto& last = what.arguments.spans[timed + i];
    last.end_time = static_cast<std::uint64_t>(end_ns - of_block * static_cast<double>(i));
    last.sm = first.sm;
  }
}

}  // namespace

bool chip_has_kernel(std::string_view kernel, unsigned chip) noexcept {
  auto const found = std::find_if(limited.begin(), limited.end(),
                                  [&](limited_kernel const& k) { return k.name == kernel; });
  if (found != limited.end()) return found->from <= chip && chip <= found->to;
  return is_core_kernel(kernel) || is_tensor_kernel(kernel) || is_memory_kernel(kernel) ||
         is_latency_kernel(kernel);
}

double nanoseconds_of(grid const& what, int major, int minor, unsigned sm_count) {
  if (is_latency_kernel(what.kernel)) return 500;
  auto const work = work_of_iteration(what.kernel) * what.blocks;
  if (is_dram_kernel(what.kernel)) {
    return work / (bytes_of_dram * 1e3 * options().share_of(what.kernel));
  }
  auto const rate =
      rate_of_sm(what.kernel, major, minor) * reached * options().share_of(what.kernel) * sm_count;
  auto const cycles = work * static_cast<double>(what.arguments.iterations) / rate;
  return cycles * 1e3 / options().mhz;
}

std::vector<std::uint32_t> run(grid const& what, bool repeats) {
  auto const& a = what.arguments;
  if (what.kernel == "tell_host" && !options().is_wrong(what.kernel))
    std::memcpy(a.output, &a.seed, sizeof a.seed);
  if (is_latency_kernel(what.kernel)) return {0};
  if (is_memory_kernel(what.kernel)) {
    if (!repeats) {
      run_on_memory(what.kernel, what.blocks, a);
      bool const writes = touched_by(what.kernel, what.blocks, a).output != 0;
      if (writes && options().is_wrong(what.kernel)) *static_cast<std::uint32_t*>(a.output) ^= 1;
    }
    return is_dram_kernel(what.kernel) ? std::vector{0u} : folds_of(what);
  }
  if (a.check != 0) store_result(what);
  return folds_of(what);
}

void write_spans(grid const& what, std::vector<std::uint32_t> const& folds, double start_ns,
                 double end_ns, unsigned sm_count) {
  if (is_latency_kernel(what.kernel) || what.kernel == "memory_fill") return;
  if (is_dram_kernel(what.kernel)) return write_edges(what, start_ns, end_ns, sm_count);
  auto const cycle = 1e3 / options().mhz;
  for (unsigned b = 0; b < what.blocks; ++b) {
    auto const sm = b % sm_count;
    // SMs count cycles from different days on; the timer ticks every 32 ns.
    auto const clock = [&](double ns) {
      return static_cast<std::uint64_t>(ns / cycle) + (sm + 1) * 1'000'000'007ull;
    };
    auto const time = [](double ns) { return static_cast<std::uint64_t>(ns) / 32 * 32; };
    auto const late = b / sm_count * 5.0;  // blocks of an SM begin one after the other
    what.arguments.spans[b] = {time(start_ns + late),
                               time(end_ns + late),
                               clock(start_ns + late),
                               clock(end_ns + late),
                               sm,
                               folds[b % folds.size()]};
  }
  if (options().differs(what.kernel)) what.arguments.spans[what.blocks / 2].fold += 2;
}

footprint footprint_of(grid const& what) {
  auto const& a = what.arguments;
  footprint f;
  if (what.kernel == "tell_host") f.output = sizeof a.seed;
  if (is_latency_kernel(what.kernel)) return f;
  auto const blocks = is_dram_kernel(what.kernel) ? 2 * a.iterations : what.blocks;
  if (what.kernel != "memory_fill") f.spans = blocks * sizeof(block_span);
  if (is_memory_kernel(what.kernel)) {
    auto const touched = touched_by(what.kernel, what.blocks, a);
    f.input = touched.input;
    f.output = touched.output;
  } else if (a.check != 0) {
    f.output = is_core_kernel(what.kernel) ? chains_of(what.kernel, a.seed, 0).size()
                                           : stored_bytes(what.kernel);
  }
  return f;
}

}  // namespace gpuprof::replay
