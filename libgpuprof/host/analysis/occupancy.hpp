// SPDX-License-Identifier: Apache-2.0
// Computes how many blocks of a kernel an SM holds at once, what limits them, and how many waves a
// launch needs.
#pragma once

#include "model/records.hpp"

#include <cstdint>
#include <optional>

namespace gpuprof::host {

/// The resources of an SM.
struct sm_limits {
  std::uint32_t threads = 0, blocks = 0, registers = 0;
  std::uint32_t shared_bytes = 0;           // with the largest carve-out
  std::uint32_t reserved_shared_bytes = 0;  // per block, reserved by the driver
  // shared memory of a block is rounded up to a multiple of this
  std::uint32_t shared_granularity = 0;
  friend constexpr bool operator==(sm_limits const&, sm_limits const&) = default;
};

/// Uses the driver's values, else the compute capability. Returns nothing if neither is known or
/// the GPU is older than Volta.
std::optional<sm_limits> sm_limits_of(device_record const&) noexcept;

/// The number of blocks per SM that each resource allows. `unlimited` if the kernel does not use
/// the resource.
struct block_limits {
  static constexpr std::uint32_t unlimited = UINT32_MAX;
  std::uint32_t by_warps = 0, by_blocks = 0;
  std::uint32_t by_registers = unlimited, by_shared_memory = unlimited;
};

/// The theoretical occupancy, with no other kernel on the SM. Fewer blocks fit if the driver chose
/// a carve-out with less shared memory than the SM has; records do not show that.
struct occupancy {
  block_limits limits;
  std::uint32_t blocks_per_sm = 0;  // the lowest limit
  std::uint32_t warps_per_block = 0;
  double share = 0;  // of the warps that the SM can hold, from 0 to 1

  // These may return true for several limiters.
  bool limited_by_warps() const noexcept { return limits.by_warps == blocks_per_sm; }
  bool limited_by_blocks() const noexcept { return limits.by_blocks == blocks_per_sm; }
  bool limited_by_registers() const noexcept { return limits.by_registers == blocks_per_sm; }
  bool limited_by_shared_memory() const noexcept {
    return limits.by_shared_memory == blocks_per_sm;
  }
};

/// Nothing: the launch has no threads, or does not fit on an SM, or its registers or shared memory
/// are not known.
std::optional<occupancy> occupancy_of(kernel_shape const&, sm_limits const&) noexcept;

/// The changes needed for one more block per SM: every member that is set must go down to this
/// value or less.
struct occupancy_step {
  std::uint32_t blocks_per_sm = 0;
  std::optional<std::uint32_t> registers_per_thread;
  std::optional<std::uint32_t> shared_bytes;  // per block, static plus dynamic
  std::optional<std::uint32_t> threads_per_block;
};

/// Returns nothing if all warps are in use, the SM holds no more blocks, or the change is
/// impossible.
std::optional<occupancy_step> next_step(kernel_shape const&, occupancy const&,
                                        sm_limits const&) noexcept;

/// Returns how often the blocks of this launch fill the GPU: 1.1 means that a tenth of a wave runs
/// at the end. With clusters, uses the number of clusters that fit on the GPU. Nothing: the number
/// of SMs is not known.
std::optional<double> waves_of(kernel_shape const&, occupancy const&,
                               std::uint32_t sm_count) noexcept;

}  // namespace gpuprof::host
