// SPDX-License-Identifier: Apache-2.0
// The compiled kernels in the library: one image per file, with the code for every chip.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace gpuprof::guest::peaks {

struct kernel_image {
  std::string_view name;            // "cuda_cores"
  std::span<std::byte const> code;  // for cuModuleLoadData; empty if this build has none
};

std::span<kernel_image const> kernel_images() noexcept;

/// Changes whenever a kernel changes.
std::string kernels_hash();

}  // namespace gpuprof::guest::peaks
