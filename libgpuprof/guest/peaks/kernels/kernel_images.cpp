// SPDX-License-Identifier: Apache-2.0
#include "guest/peaks/kernels/kernel_images.hpp"

#include <array>
#include <cstdint>
#include <cstdio>

// The assembler includes the file, so the compiler need not parse it as text.
#define GPUPROF_CARRY(name)                                                    \
  asm(".pushsection .rodata, \"a\", @progbits\n"                               \
      ".balign 64\n"                                                           \
      ".globl gpuprof_kernels_" #name "\n.hidden gpuprof_kernels_" #name       \
      "\n"                                                                     \
      "gpuprof_kernels_" #name ":\n.incbin \"" GPUPROF_KERNEL_FOLDER "/" #name \
      ".fatbin\"\n"                                                            \
      ".globl gpuprof_kernels_" #name "_end\n.hidden gpuprof_kernels_" #name   \
      "_end\n"                                                                 \
      "gpuprof_kernels_" #name "_end:\n.popsection\n");                        \
  extern "C" std::byte const gpuprof_kernels_##name[];                         \
  extern "C" std::byte const gpuprof_kernels_##name##_end[];

#define GPUPROF_KERNEL_FILES(X) \
  X(cuda_cores)                 \
  X(memory)                     \
  X(latency)                    \
  X(tensor_mma)                 \
  X(tensor_wgmma)               \
  X(tensor_tcgen05)             \
  X(tensor_mma_block_scale)

GPUPROF_KERNEL_FILES(GPUPROF_CARRY)

namespace gpuprof::guest::peaks {

std::span<kernel_image const> kernel_images() noexcept {
#define GPUPROF_IMAGE(name) \
  kernel_image{#name, {gpuprof_kernels_##name, gpuprof_kernels_##name##_end}},
  static std::array const all{GPUPROF_KERNEL_FILES(GPUPROF_IMAGE)};
#undef GPUPROF_IMAGE
  return all;
}

// FNV-1a.
std::string kernels_hash() {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (auto const& image : kernel_images()) {
    for (auto const byte : image.code)
      hash = (hash ^ static_cast<std::uint8_t>(byte)) * 0x100000001B3u;
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

}  // namespace gpuprof::guest::peaks
