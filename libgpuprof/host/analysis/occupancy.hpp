// SPDX-License-Identifier: Apache-2.0
// How many blocks of a kernel an SM holds at once, what limits them, and in how many waves they
// run.
#pragma once

#include "model/records.hpp"

#include <cstdint>
#include <optional>

namespace gpuprof::host {

/// What an SM has for the kernels that run on it.
struct sm_limits {
  std::uint32_t threads = 0, blocks = 0, registers = 0;
  std::uint32_t shared_bytes = 0;           // at the greatest carve-out
  std::uint32_t reserved_shared_bytes = 0;  // of each block, kept by the driver
  std::uint32_t shared_granularity = 0;     // a block's shared memory is a multiple of it
  friend constexpr bool operator==(sm_limits const&, sm_limits const&) = default;
};

/// As the driver said, else by compute capability. Nothing: neither is known, or the GPU is older
/// than Volta.
std::optional<sm_limits> sm_limits_of(device_record const&) noexcept;

/// Blocks that an SM would hold if nothing else limited them; `unlimited` where the kernel uses
/// none of it.
struct block_limits {
  static constexpr std::uint32_t unlimited = UINT32_MAX;
  std::uint32_t by_warps = 0, by_blocks = 0;
  std::uint32_t by_registers = unlimited, by_shared_memory = unlimited;
};

/// Theoretical: with no other kernel on the SM. Where the driver gave the kernel a carve-out with
/// less shared memory than the SM has, which no record tells, fewer blocks fit than is said here.
struct occupancy {
  block_limits limits;
  std::uint32_t blocks_per_sm = 0;  // the least limit
  std::uint32_t warps_per_block = 0;
  double share = 0;  // of the warps that the SM can hold, from 0 to 1

  // Limiters; often there are two.
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

/// What would have to change for one more block on each SM: all of what is set, each to this value
/// or less.
struct occupancy_step {
  std::uint32_t blocks_per_sm = 0;
  std::optional<std::uint32_t> registers_per_thread;
  std::optional<std::uint32_t> shared_bytes;  // of a block, static and dynamic together
  std::optional<std::uint32_t> threads_per_block;
};

/// Nothing: all warps are in use, or the SM holds no more blocks, or the change cannot be made.
std::optional<occupancy_step> next_step(kernel_shape const&, occupancy const&,
                                        sm_limits const&) noexcept;

/// How often the GPU is filled with blocks of this launch: 1.1 means that a tenth of a wave runs
/// alone at the end. With clusters, by the number of clusters that fit on the GPU. Nothing: the
/// number of SMs is not known.
std::optional<double> waves_of(kernel_shape const&, occupancy const&,
                               std::uint32_t sm_count) noexcept;

}  // namespace gpuprof::host
