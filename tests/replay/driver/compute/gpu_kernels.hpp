// SPDX-License-Identifier: Apache-2.0
// The kernels of libgpuprof/guest/peaks as the fake GPU runs them: how fast, and what they leave.
#pragma once

#include "guest/peaks/kernels/kernel_arguments.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::replay {
using namespace guest;

/// Whether a compiled image has this kernel for the chip (90 of 9.0).
bool chip_has_kernel(std::string_view kernel, unsigned chip) noexcept;

struct grid {
  std::string kernel;
  unsigned blocks = 0, threads = 0;
  peaks::kernel_arguments arguments{};
};

/// Of the whole grid, without noise.
double nanoseconds_of(grid const& what, int compute_major, int compute_minor, unsigned sm_count);

/// Stores what the kernel stores, except for times. `repeats`: memory still is as the same grid
/// left it. Gives the fold of each block; one for all: they are alike.
std::vector<std::uint32_t> run(grid const& what, bool repeats);

/// Writes down when blocks ran, on so many SMs.
void write_spans(grid const& what, std::vector<std::uint32_t> const& folds, double start_ns,
                 double end_ns, unsigned sm_count);

/// Bytes that a grid touches, from its pointers on; 0: none.
struct footprint {
  std::uint64_t spans = 0, input = 0, output = 0;
};
footprint footprint_of(grid const& what);

}  // namespace gpuprof::replay
