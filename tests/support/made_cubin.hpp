// SPDX-License-Identifier: Apache-2.0
// Makes cubins of a few functions, for tests: an ELF file as the driver hands it to tools.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::test {

/// The two words of an instruction.
using machine_word = std::pair<std::uint64_t, std::uint64_t>;

/// As nvcc 13.0 makes them.
namespace sass {
inline constexpr machine_word fadd{0x0000000500057221, 0x004fca0000000000};
inline constexpr machine_word ffma{0x0000000500057223, 0x004fca0000000007};
inline constexpr machine_word imad{0x0000000500057224, 0x004fca00078e0207};
inline constexpr machine_word dfma{0x000000040202722b, 0x004fca0000000006};
inline constexpr machine_word hfma2{0x0000000500057231, 0x004fca0000000004};
inline constexpr machine_word move_by_hfma2{0x00000000ff057435, 0x000fe200000001ff};
inline constexpr machine_word mma_bf16{0x000000080404723c, 0x004fca000004180c};
inline constexpr machine_word wgmma_bf16{0x00e00000041879f0, 0x004fca0008001818};
inline constexpr machine_word wgmma_fp16{0x00e00000041879f0, 0x004fca0008000818};
inline constexpr machine_word wgmma_fp16_n8{0x00000000041879f0, 0x004fca0008000818};
inline constexpr machine_word wgmma_tf32{0x04e00000041879f0, 0x004fca0008002818};
inline constexpr machine_word call{0x0000000000207944, 0x001fea0003c00000};  // CALL.REL.NOINC
inline constexpr machine_word call_through_pointer{0x000000000a007343, 0x001fea0003c00000};
inline constexpr machine_word fmnmx{0x0000000f0e037209, 0x008fc80007800000};
inline constexpr machine_word mufu_ex2{0x0000000000027308, 0x000e240000000800};
inline constexpr machine_word mufu_rcp{0x0000000300037308, 0x000e240000001000};
inline constexpr machine_word bar{0x0000000000007b1d, 0x000fe80000010000};
inline constexpr machine_word shfl{0x00001f000f0f7589, 0x002e6200000e0000};
inline constexpr machine_word redg_f32{0x00001c13080079a6, 0x0203e8000c10f388};
inline constexpr machine_word atomg_cas{0x00002418080a73a9, 0x00112800001ee119};
inline constexpr machine_word exit{0x000000000000794d, 0x000fea0003800000};
}  // namespace sass

struct made_function {
  std::string name;
  std::vector<machine_word> code;
  std::vector<std::string> calls;  // names; those of no function here are undefined symbols
  bool calls_through_pointer = false;
  std::vector<std::string> externals = {};  // names of undefined symbols that its attributes list
};

struct made_cubin {
  std::uint32_t sm = 90;
  std::vector<made_function> functions;
  bool has_call_graph = true;
  bool has_old_flags = false;  // as before CUDA 13

  std::vector<std::uint8_t> bytes() const;
};

}  // namespace gpuprof::test
