// SPDX-License-Identifier: Apache-2.0
// The compiled kernels, as they lie in the library: one image a file, each with the code for every
// chip it is made for.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace gpuprof::guest::peaks {

struct kernel_image {
  std::string_view name;            // "cuda_cores"
  std::span<std::byte const> code;  // for cuModuleLoadData; empty: this build has none
};

std::span<kernel_image const> kernel_images() noexcept;

/// Changes whenever a kernel does.
std::string kernels_hash();

}  // namespace gpuprof::guest::peaks
