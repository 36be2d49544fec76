// SPDX-License-Identifier: Apache-2.0
// Theoretical occupancy, with the header of the CUDA toolkit as the oracle.
#include "host/analysis/occupancy.hpp"

#include "support/catch.hpp"

#include <array>
#include <random>

#if __has_include(<cuda_occupancy.h>)
#define GPUPROF_HAS_ORACLE 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#include <cuda_occupancy.h>
#pragma GCC diagnostic pop
#else
#define GPUPROF_HAS_ORACLE 0
#endif

using namespace gpuprof;
using namespace gpuprof::host;

namespace {

device_record gpu(std::uint32_t major, std::uint32_t minor) {
  device_record device;
  device.compute_major = major;
  device.compute_minor = minor;
  return device;
}

kernel_shape launch(std::uint32_t threads, std::uint32_t registers = 32,
                    std::uint32_t shared_bytes = 0) {
  kernel_shape shape;
  shape.grid = {1, 1, 1};
  shape.block = {threads, 1, 1};
  shape.registers_per_thread = registers;
  shape.dynamic_shared_bytes = shared_bytes;
  return shape;
}

sm_limits limits_of(std::uint32_t major, std::uint32_t minor) {
  auto const limits = sm_limits_of(gpu(major, minor));
  REQUIRE(limits);
  return *limits;
}

constexpr std::array capabilities{std::pair{7U, 0U},  std::pair{7U, 2U},  std::pair{7U, 5U},
                                  std::pair{8U, 0U},  std::pair{8U, 6U},  std::pair{8U, 7U},
                                  std::pair{8U, 9U},  std::pair{9U, 0U},  std::pair{10U, 0U},
                                  std::pair{10U, 3U}, std::pair{11U, 0U}, std::pair{12U, 0U},
                                  std::pair{12U, 1U}};

/// Launches as programs make them and as nobody does: half of the blocks are whole warps.
kernel_shape random_launch(std::mt19937& random, sm_limits const& sm) {
  auto const below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
  auto shape = launch(1 + below(1024), 1 + below(255));
  if (below(2) == 0) shape.block.x = (shape.block.x + 31) / 32 * 32;
  auto const all_shared = sm.shared_bytes - sm.reserved_shared_bytes;
  auto const kind = below(4);
  if (kind != 0) shape.static_shared_bytes = below(std::min(48U * 1024U, all_shared));
  auto const left = all_shared - shape.static_shared_bytes;
  if (kind > 1) shape.dynamic_shared_bytes = below(kind == 2 ? std::min(left, 8192U) : left);
  return shape;
}

}  // namespace

#if GPUPROF_HAS_ORACLE

namespace {

cudaOccDeviceProp properties_of(std::uint32_t major, std::uint32_t minor, sm_limits const& sm) {
  cudaOccDeviceProp properties;
  properties.computeMajor = static_cast<int>(major);
  properties.computeMinor = static_cast<int>(minor);
  properties.maxThreadsPerBlock = 1024;
  properties.maxThreadsPerMultiprocessor = static_cast<int>(sm.threads);
  properties.regsPerBlock = properties.regsPerMultiprocessor = static_cast<int>(sm.registers);
  properties.warpSize = 32;
  properties.sharedMemPerBlock = 48 * 1024;
  properties.sharedMemPerMultiprocessor = sm.shared_bytes;
  properties.sharedMemPerBlockOptin = sm.shared_bytes - sm.reserved_shared_bytes;
  properties.reservedSharedMemPerBlock = sm.reserved_shared_bytes;
  properties.numSms = 1;
  return properties;
}

cudaOccResult oracle(cudaOccDeviceProp const& properties, kernel_shape const& shape) {
  cudaOccFuncAttributes function;
  function.maxThreadsPerBlock = 1024;
  function.numRegs = static_cast<int>(shape.registers_per_thread);
  function.sharedSizeBytes = shape.static_shared_bytes;
  function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  function.maxDynamicSharedSizeBytes = shape.dynamic_shared_bytes;
  cudaOccDeviceState const state;
  cudaOccResult result{};
  REQUIRE(cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &function, &state,
                                                  static_cast<int>(shape.block.x),
                                                  shape.dynamic_shared_bytes) == CUDA_OCC_SUCCESS);
  return result;
}

unsigned limiters(occupancy const& found) {
  unsigned factors = 0;
  if (found.limited_by_warps()) factors |= OCC_LIMIT_WARPS;
  if (found.limited_by_blocks()) factors |= OCC_LIMIT_BLOCKS;
  if (found.limited_by_registers()) factors |= OCC_LIMIT_REGISTERS;
  if (found.limited_by_shared_memory()) factors |= OCC_LIMIT_SHARED_MEMORY;
  return factors;
}

/// Empty: both say the same.
std::string difference(occupancy const* found, cudaOccResult const& expected,
                       kernel_shape const& shape) {
  auto const blocks = expected.activeBlocksPerMultiprocessor;
  auto const text = std::to_string(shape.block.x) + " threads, " +
                    std::to_string(shape.registers_per_thread) + " registers, " +
                    std::to_string(shape.static_shared_bytes) + " + " +
                    std::to_string(shape.dynamic_shared_bytes) +
                    " bytes: " + std::to_string(blocks) + " blocks expected";
  if ((found == nullptr) != (blocks == 0)) return text;
  if (found == nullptr) return {};
  if (found->blocks_per_sm != static_cast<std::uint32_t>(blocks)) return text;
  return limiters(*found) == expected.limitingFactors ? std::string() : text + ", other limiters";
}

}  // namespace

TEST_CASE("a launch whose shared memory is not known has no theoretical occupancy") {
  auto shape = launch(128, 32);
  CHECK(occupancy_of(shape, limits_of(9, 0)));
  shape.shared_bytes_unknown = true;
  CHECK_FALSE(occupancy_of(shape, limits_of(9, 0)));
}

TEST_CASE("blocks on an SM and what limits them are those of the CUDA toolkit") {
  std::mt19937 random(15);
  for (auto const& [major, minor] : capabilities) {
    auto const sm = limits_of(major, minor);
    auto const properties = properties_of(major, minor, sm);
    std::string first_difference;
    int placed = 0;
    for (int i = 0; i < 100'000 && first_difference.empty(); ++i) {
      auto const shape = random_launch(random, sm);
      auto const found = occupancy_of(shape, sm);
      placed += found.has_value();
      first_difference = difference(found ? &*found : nullptr, oracle(properties, shape), shape);
    }
    INFO("compute capability " << major << "." << minor);
    CHECK(first_difference == "");
    CHECK(placed > 50'000);
  }
}

#else

TEST_CASE("blocks on an SM and what limits them are those of the CUDA toolkit") {
  SKIP("SKIPPED: this CUDA toolkit has no cuda_occupancy.h");
}

#endif

TEST_CASE("the table of compute capabilities holds where the driver did not say") {
  CHECK(limits_of(9, 0) == sm_limits{2048, 32, 65536, 228 * 1024, 1024, 128});
  CHECK(limits_of(7, 5) == sm_limits{1024, 16, 65536, 64 * 1024, 0, 256});
  CHECK_FALSE(sm_limits_of(gpu(6, 1)));
  CHECK_FALSE(sm_limits_of(gpu(13, 0)));
  CHECK_FALSE(sm_limits_of(device_record{}));
}

TEST_CASE("what the driver said of a GPU that is not in the table is taken") {
  auto device = gpu(13, 0);
  device.max_threads_per_sm = 3072;
  device.max_blocks_per_sm = 48;
  device.registers_per_sm = 131072;
  device.shared_bytes_per_sm = 300 * 1024;
  device.reserved_shared_bytes = 2048;
  CHECK(sm_limits_of(device) == sm_limits{3072, 48, 131072, 300 * 1024, 2048, 128});
}

TEST_CASE("a launch that no SM can hold has no occupancy") {
  auto const sm = limits_of(9, 0);
  CHECK_FALSE(occupancy_of(launch(0), sm));
  CHECK_FALSE(occupancy_of(launch(4096), sm));
  CHECK_FALSE(occupancy_of(launch(128, 32, 228 * 1024), sm));
  auto huge = launch(128, 32, UINT32_MAX);
  huge.static_shared_bytes = UINT32_MAX;
  CHECK_FALSE(occupancy_of(huge, sm));
}

TEST_CASE("sizes that no kernel has give no occupancy, whatever products of them wrap to") {
  auto const sm = limits_of(9, 0);
  for (std::uint32_t const registers : {0U, 513U, 1U << 27, UINT32_MAX - 7, UINT32_MAX})
    CHECK_FALSE(occupancy_of(launch(128, registers), sm));
  auto wide = launch(128);
  wide.block = {1U << 31, 1U << 31, 4};  // 2^64 threads
  CHECK_FALSE(occupancy_of(wide, sm));
  wide.block = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
  CHECK_FALSE(occupancy_of(wide, sm));
  auto damaged = sm;
  damaged.shared_bytes = UINT32_MAX;
  damaged.reserved_shared_bytes = UINT32_MAX;
  CHECK_FALSE(occupancy_of(launch(128, 32, 64), damaged));
  damaged.reserved_shared_bytes = UINT32_MAX - 32;
  CHECK_FALSE(occupancy_of(launch(128, 32, 32), damaged));
}

TEST_CASE("the next step is what one more block on each SM needs, and it leads there") {
  auto const sm = limits_of(9, 0);
  auto const wide = launch(384, 168);
  auto const now = occupancy_of(wide, sm);
  REQUIRE(now);
  CHECK(now->blocks_per_sm == 1);
  CHECK(now->limited_by_registers());
  CHECK_FALSE(now->limited_by_shared_memory());
  CHECK(now->share == 12.0 / 64);
  auto const step = next_step(wide, *now, sm);
  REQUIRE(step);
  CHECK(step->blocks_per_sm == 2);
  CHECK(step->registers_per_thread == 80);
  CHECK_FALSE(step->shared_bytes);
  CHECK_FALSE(step->threads_per_block);
}

TEST_CASE("no step is said where all warps are in use or the SM holds no more blocks") {
  auto const sm = limits_of(9, 0);
  for (auto const& shape : {launch(1024), launch(32)}) {
    auto const now = occupancy_of(shape, sm);
    REQUIRE(now);
    CHECK_FALSE(next_step(shape, *now, sm));
  }
}

TEST_CASE("each step leads to one more block, and one register or granule more does not") {
  std::mt19937 random(16);
  int steps = 0;
  for (auto const& [major, minor] : capabilities) {
    auto const sm = limits_of(major, minor);
    for (int i = 0; i < 2'000; ++i) {
      auto shape = random_launch(random, sm);
      auto const now = occupancy_of(shape, sm);
      if (!now) continue;
      auto const step = next_step(shape, *now, sm);
      if (!step) continue;
      ++steps;
      auto const blocks_with = [&](std::uint32_t more_registers, std::uint32_t more_bytes) {
        auto changed = shape;
        if (step->threads_per_block) changed.block = {*step->threads_per_block, 1, 1};
        if (step->registers_per_thread) {
          changed.registers_per_thread = *step->registers_per_thread + more_registers;
        }
        if (step->shared_bytes) {
          changed.static_shared_bytes = 0;
          changed.dynamic_shared_bytes = *step->shared_bytes + more_bytes;
        }
        auto const then = occupancy_of(changed, sm);
        return then ? then->blocks_per_sm : 0;
      };
      auto ok = blocks_with(0, 0) >= step->blocks_per_sm;
      if (step->registers_per_thread) ok = ok && blocks_with(1, 0) < step->blocks_per_sm;
      if (step->shared_bytes) ok = ok && blocks_with(0, 1) < step->blocks_per_sm;
      if (!ok)
        FAIL("a step that does not lead there, compute capability " << major << "." << minor);
    }
  }
  CHECK(steps > 5'000);
}

TEST_CASE("waves count how often the GPU is filled") {
  auto const sm = limits_of(9, 0);
  auto shape = launch(1024);
  shape.grid = {132, 2, 1};
  shape.grid.z = 2;
  auto const now = occupancy_of(shape, sm);
  REQUIRE(now);
  CHECK(now->blocks_per_sm == 2);
  CHECK(waves_of(shape, *now, 132) == 2.0);
  CHECK_FALSE(waves_of(shape, *now, 0));
  shape.cluster = {2, 1, 1};
  CHECK(waves_of(shape, *now, 132) == 2.0);
  shape.max_active_clusters = 66;
  CHECK(waves_of(shape, *now, 132) == 4.0);
}
