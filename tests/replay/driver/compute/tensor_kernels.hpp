// SPDX-License-Identifier: Apache-2.0
// What the tensor-core kernels of libgpuprof/guest/peaks come to: products added with the
// accumulator's rounding, stored lane by lane and register by register after the PTX manual's
// fragments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace gpuprof::replay {

/// Accumulators as matrices, before they are laid out in memory.
struct tensor_result {
  unsigned chains = 1, rows = 0, columns = 0;
  std::vector<double> values;

  double& at(unsigned chain, unsigned row, unsigned column) {
    return values[(chain * rows + row) * columns + column];
  }
};

/// What a broken kernel would have done otherwise.
struct tensor_defect {
  unsigned rounds_missing = 0;  // of all multiplications of a chain, or of all batches
  bool adds_odd_steps = false;  // that are to be subtracted
};

bool is_tensor_kernel(std::string_view kernel) noexcept;

/// FLOP or op of one block in one iteration.
double tensor_work(std::string_view kernel);

tensor_result multiplied(std::string_view kernel, std::uint32_t seed, std::uint64_t iterations,
                         tensor_defect defect = {});

/// The bytes a GPU leaves of it when it is asked for a check.
std::vector<std::byte> stored(std::string_view kernel, tensor_result const& result);
std::size_t stored_bytes(std::string_view kernel);

}  // namespace gpuprof::replay
