// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/occupancy.hpp"

#include <algorithm>
#include <array>

namespace gpuprof::host {
namespace {

constexpr std::uint32_t warp_size = 32;
constexpr std::uint32_t partitions = 4;              // of an SM; a warp's registers lie in one
constexpr std::uint32_t register_granularity = 256;  // registers of a warp
constexpr std::uint32_t least_registers = 16;        // a thread; compilers go no lower
constexpr std::uint32_t kib = 1024;

struct capability_row {
  std::uint32_t major, minor, threads, blocks, shared_kib;
};

/// CUDA programming guide, "Compute capabilities". A minor version that is not listed is not known:
/// within a major version SMs differ.
constexpr std::array capabilities{
    capability_row{7, 0, 2048, 32, 96},   capability_row{7, 2, 2048, 32, 96},
    capability_row{7, 5, 1024, 16, 64},   capability_row{8, 0, 2048, 32, 164},
    capability_row{8, 6, 1536, 16, 100},  capability_row{8, 7, 1536, 16, 164},
    capability_row{8, 9, 1536, 24, 100},  capability_row{9, 0, 2048, 32, 228},
    capability_row{10, 0, 2048, 32, 228}, capability_row{10, 3, 2048, 32, 228},
    capability_row{11, 0, 1536, 24, 228}, capability_row{12, 0, 1536, 24, 100},
    capability_row{12, 1, 1536, 24, 100},
};

/// In 64 bits: a damaged file may say any size, and none may wrap to a small one.
constexpr std::uint64_t rounded_up(std::uint64_t value, std::uint32_t granularity) {
  return (value + granularity - 1) / granularity * granularity;
}

constexpr std::uint32_t divide_up(std::uint32_t value, std::uint32_t by) {
  return value / by + (value % by != 0);
}

/// The greatest number where the product does not fit.
constexpr std::uint64_t volume(extent3 const& extent) {
  auto const area = std::uint64_t{extent.x} * extent.y;
  if (extent.z != 0 && area > UINT64_MAX / extent.z) return UINT64_MAX;
  return area * extent.z;
}

std::uint32_t blocks_by_registers(kernel_shape const& shape, std::uint32_t warps,
                                  sm_limits const& sm) {
  auto const of_warp =
      rounded_up(std::uint64_t{shape.registers_per_thread} * warp_size, register_granularity);
  return static_cast<std::uint32_t>(partitions * (sm.registers / partitions / of_warp) / warps);
}

std::uint32_t blocks_by_shared_memory(kernel_shape const& shape, sm_limits const& sm) {
  auto const used = std::uint64_t{shape.static_shared_bytes} + shape.dynamic_shared_bytes +
                    sm.reserved_shared_bytes;
  if (used == 0) return block_limits::unlimited;
  if (used > sm.shared_bytes) return 0;
  return static_cast<std::uint32_t>(sm.shared_bytes / rounded_up(used, sm.shared_granularity));
}

/// The most registers of a thread with which an SM holds so many warps; 0: not possible.
std::uint32_t registers_for(std::uint32_t warps, sm_limits const& sm) {
  auto const of_warp = sm.registers / partitions / divide_up(warps, partitions);
  auto const registers = of_warp / register_granularity * register_granularity / warp_size;
  return registers < least_registers ? 0 : registers;
}

/// The most shared memory of a block with which an SM holds so many blocks; nothing: not possible.
std::optional<std::uint32_t> shared_bytes_for(std::uint32_t blocks, sm_limits const& sm) {
  auto const allocated = sm.shared_bytes / blocks / sm.shared_granularity * sm.shared_granularity;
  if (allocated < sm.reserved_shared_bytes) return std::nullopt;
  return allocated - sm.reserved_shared_bytes;
}

}  // namespace

std::optional<sm_limits> sm_limits_of(device_record const& device) noexcept {
  if (device.compute_major < 7) return std::nullopt;
  auto const is_volta = device.compute_major == 7;
  sm_limits sm{.threads = device.max_threads_per_sm,
               .blocks = device.max_blocks_per_sm,
               .registers = device.registers_per_sm,
               .shared_bytes = device.shared_bytes_per_sm,
               .reserved_shared_bytes = device.reserved_shared_bytes,
               .shared_granularity = is_volta ? 256U : 128U};
  if (sm.threads != 0 && sm.blocks != 0 && sm.registers != 0 && sm.shared_bytes != 0) return sm;
  auto const row = std::ranges::find_if(capabilities, [&](auto const& known) {
    return known.major == device.compute_major && known.minor == device.compute_minor;
  });
  if (row == capabilities.end()) return std::nullopt;
  sm.threads = row->threads;
  sm.blocks = row->blocks;
  sm.registers = 64 * kib;
  sm.shared_bytes = row->shared_kib * kib;
  sm.reserved_shared_bytes = is_volta ? 0 : kib;
  return sm;
}

std::optional<occupancy> occupancy_of(kernel_shape const& shape, sm_limits const& sm) noexcept {
  auto const threads = volume(shape.block);
  if (threads == 0 || threads > sm.threads) return std::nullopt;
  if (shape.registers_per_thread == 0) return std::nullopt;  // not known: every kernel has some
  if (shape.shared_bytes_unknown) return std::nullopt;
  occupancy result;
  result.warps_per_block = divide_up(static_cast<std::uint32_t>(threads), warp_size);
  auto& limits = result.limits;
  limits.by_warps = sm.threads / warp_size / result.warps_per_block;
  limits.by_blocks = sm.blocks;
  limits.by_registers = blocks_by_registers(shape, result.warps_per_block, sm);
  limits.by_shared_memory = blocks_by_shared_memory(shape, sm);
  result.blocks_per_sm =
      std::min({limits.by_warps, limits.by_blocks, limits.by_registers, limits.by_shared_memory});
  if (result.blocks_per_sm == 0) return std::nullopt;
  auto const max_warps = sm.threads / warp_size;
  result.share = static_cast<double>(result.blocks_per_sm * result.warps_per_block) / max_warps;
  return result;
}

std::optional<occupancy_step> next_step(kernel_shape const& shape, occupancy const& now,
                                        sm_limits const& sm) noexcept {
  auto const all_warps = sm.threads / warp_size;
  if (now.limited_by_blocks() || now.blocks_per_sm * now.warps_per_block == all_warps) {
    return std::nullopt;
  }
  occupancy_step step;
  step.blocks_per_sm = now.blocks_per_sm + 1;
  auto warps = now.warps_per_block;
  if (now.limited_by_warps()) {
    warps = all_warps / step.blocks_per_sm;
    step.threads_per_block = warps * warp_size;
  }
  auto const registers = registers_for(step.blocks_per_sm * warps, sm);
  if (shape.registers_per_thread > registers) {
    if (registers == 0) return std::nullopt;
    step.registers_per_thread = registers;
  }
  if (now.limited_by_shared_memory()) {
    step.shared_bytes = shared_bytes_for(step.blocks_per_sm, sm);
    if (!step.shared_bytes) return std::nullopt;
  }
  return step;
}

std::optional<double> waves_of(kernel_shape const& shape, occupancy const& now,
                               std::uint32_t sm_count) noexcept {
  auto const blocks = static_cast<double>(volume(shape.grid));
  auto const cluster_size = volume(shape.cluster);
  if (cluster_size > 1 && shape.max_active_clusters != 0) {
    return blocks /
           (static_cast<double>(shape.max_active_clusters) * static_cast<double>(cluster_size));
  }
  if (sm_count == 0) return std::nullopt;
  return blocks / (static_cast<double>(sm_count) * now.blocks_per_sm);
}

}  // namespace gpuprof::host
