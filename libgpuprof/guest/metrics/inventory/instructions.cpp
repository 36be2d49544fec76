// SPDX-License-Identifier: Apache-2.0
#include "guest/metrics/inventory/instructions.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <initializer_list>

namespace gpuprof::guest {
namespace {

using enum instruction_class;

constexpr std::size_t instruction_bytes = 16;
// The low 9 bits of the first word hold the operation, the next three bits the kinds of its
// operands.
constexpr std::uint64_t operation_mask = 0x1ff;

enum operation : std::uint16_t {
  fmnmx = 0x009,
  fsetp = 0x00b,
  fmul = 0x020,
  fadd = 0x021,
  ffma = 0x023,
  imad = 0x024,  // also used for moves: IMAD.MOV
  imad_wide = 0x025,
  idp = 0x026,
  imad_high = 0x027,
  dmul = 0x028,
  dadd = 0x029,
  dsetp = 0x02a,
  dfma = 0x02b,
  hadd2 = 0x030,
  hfma2 = 0x031,
  hmul2 = 0x032,
  hsetp2 = 0x034,
  hfma2_mma = 0x035,
  hmma_884 = 0x036,
  imma = 0x037,
  hmma = 0x03c,
  bmma = 0x03d,
  dmma = 0x03f,
  hmnmx2 = 0x040,
  ffma2 = 0x049,
  fmul2 = 0x04a,
  fadd2 = 0x04b,
  qmma = 0x07a,
  omma = 0x07f,
  mufu = 0x108,
  bar = 0x11d,
  call_absolute = 0x143,
  call_relative = 0x144,
  jump = 0x14a,
  jump_indexed = 0x14c,
  shfl = 0x189,
  atom = 0x18a,
  red = 0x18e,
  atomg_float = 0x1a3,
  redg = 0x1a6,
  atomg = 0x1a8,
  redux = 0x1c4,
  utcmma = 0x1ea,  // all variants of tcgen05.mma
  hgmma = 0x1f0,
  igmma = 0x1f1,
  bgmma = 0x1f2,
  qgmma = 0x1f3,
};

struct instruction {
  std::uint64_t low = 0, high = 0;
  constexpr bool high_bit(unsigned bit) const noexcept { return (high >> bit & 1) != 0; }
};

constexpr instruction_set nothing{};

constexpr instruction_set if_set(bool set, instruction_class one) noexcept {
  return set ? instruction_set(one) : nothing;
}

/// True if the first operand is the zero register: the instruction only loads a constant or
/// converts.
constexpr bool is_move(instruction i) noexcept {
  return (i.low >> 24 & 0xff) == 0xff;
}

constexpr instruction_set of_hmma(instruction i) noexcept {
  auto const is_short = i.high_bit(19) ? i.high_bit(14) : !i.high_bit(11);
  auto const type = i.high_bit(19)   ? (is_short ? mma_tf32_short : mma_tf32)
                    : i.high_bit(18) ? (is_short ? mma_bf16_short : mma_bf16)
                                     : (is_short ? mma_fp16_short : mma_fp16);
  return type | if_set(i.high_bit(9), sparse_tensor);
}

constexpr instruction_set of_imma(instruction i) noexcept {
  auto const is_narrow = i.high_bit(19) && i.high_bit(20);
  auto const type = is_narrow ? mma_int4 : i.high_bit(11) ? mma_int8 : mma_int8_short;
  return type | if_set(i.high_bit(8), sparse_tensor);
}

constexpr instruction_set of_dmma(instruction i) noexcept {
  return (i.high >> 12 & 3) == 0 ? mma_fp64_m8n8k4 : mma_fp64;
}

/// Each operand is FP8, FP6 or FP4. The wider one counts.
constexpr instruction_set of_qmma(instruction i) noexcept {
  auto const first_is_fp8 = !i.high_bit(18) && !i.high_bit(19);
  auto const second_is_fp8 = !i.high_bit(20) && !i.high_bit(21);
  return (first_is_fp8 || second_is_fp8 ? mma_fp8 : mma_fp6) |
         if_set(i.high_bit(16), sparse_tensor);
}

/// Bits 53 and up hold the number of columns in units of eight, up to 256. Integer instructions do
/// not allow all of them.
constexpr instruction_set beside_wgmma(instruction i, unsigned at_64_columns) noexcept {
  return if_set((i.low >> 53 & 0x1f) < at_64_columns && (i.low >> 53 & 0x20) == 0, narrow_wgmma) |
         if_set(i.high_bit(9), sparse_tensor);
}

constexpr instruction_set of_hgmma(instruction i) noexcept {
  auto const type = i.high_bit(13) ? wgmma_tf32 : i.high_bit(12) ? wgmma_bf16 : wgmma_fp16;
  // Bit 58 is not part of the column count here.
  auto const columns = instruction{i.low & ~(std::uint64_t{1} << 58), i.high};
  return type | beside_wgmma(columns, 7);
}

constexpr instruction_set of_tcgen05(instruction i) noexcept {
  switch (i.high >> 8 & 3) {
    case 0:
      return i.low >> 63 == 0 ? tcgen05_fp16_bf16_tf32 : tcgen05_fp4;
    case 1:
      return tcgen05_int8;
    default:
      return tcgen05_fp8_fp6_fp4;
  }
}

constexpr bool is_reciprocal(instruction i) noexcept {
  return (i.high >> 10 & 0xf) == 4;
}

/// Handles instructions whose class depends on more than their operation.
constexpr instruction_set look_closer(instruction i) noexcept {
  switch (i.low & operation_mask) {
    case hadd2:
    case hfma2:
    case hmul2:
    case hfma2_mma:
      return if_set(!is_move(i), fp16);
    case mufu:
      return if_set(!is_reciprocal(i), float_other);
    case hmma:
      return of_hmma(i);
    case imma:
      return of_imma(i);
    case dmma:
      return of_dmma(i);
    case qmma:
      return of_qmma(i);
    case hgmma:
      return of_hgmma(i);
    case igmma:
      return wgmma_int8 | beside_wgmma(i, 15);
    case qgmma:
      return wgmma_fp8 | beside_wgmma(i, 7);
    case utcmma:
      return of_tcgen05(i);
    default:
      return nothing;
  }
}

constexpr std::uint64_t needs_closer_look = std::uint64_t{1} << 63;
constexpr std::uint64_t calls = std::uint64_t{1} << 62;
using operation_table = std::array<std::uint64_t, operation_mask + 1>;

/// The same number can be a different operation on another chip: 0x036 adds integers on sm_90.
constexpr operation_table operations_of(std::uint32_t sm) {
  operation_table table{};
  auto const put = [&table](std::initializer_list<operation> ops, std::uint64_t bits) {
    for (auto const op : ops) table[op] = bits;
  };
  put({fmul, fadd, ffma}, instruction_set(fp32).bits());
  put({dmul, dadd, dfma}, instruction_set(fp64).bits());
  put({hadd2, hfma2, hmul2, imma, hmma, mufu}, needs_closer_look);
  put({fmnmx, fsetp, dsetp, hsetp2, hmnmx2}, instruction_set(float_other).bits());
  put({shfl, redux}, instruction_set(shuffle).bits());
  put({bar}, instruction_set(barrier).bits());
  put({atom, red, atomg}, instruction_set(add_in_memory).bits());
  if (sm >= 90) put({atomg_float, redg}, instruction_set(add_in_memory).bits());
  put({call_absolute, call_relative, jump, jump_indexed}, calls);
  if (sm == 75) put({hmma_884}, instruction_set(mma_fp16).bits());
  if (sm <= 90) put({bmma}, instruction_set(mma_bit).bits());
  if (sm >= 80) put({dmma}, needs_closer_look);
  if (sm >= 80 && sm <= 90) put({hfma2_mma}, needs_closer_look);
  if (sm == 89 || sm >= 120) put({qmma}, needs_closer_look);
  if (sm == 90) put({hgmma, igmma, qgmma}, needs_closer_look);
  if (sm == 90) put({bgmma}, instruction_set(wgmma_bit).bits());
  if (sm == 100 || sm == 103) put({utcmma}, needs_closer_look);
  if (sm == 100 || sm == 103) put({ffma2, fmul2, fadd2}, instruction_set(fp32).bits());
  if (sm >= 120) put({omma}, instruction_set(mma_fp4).bits());
  return table;
}

/// The low half of an entry says how often the FMA pipes count the instruction, the high half how
/// many FP32 operations it makes per thread. The sums do not overflow into each other: the limit on
/// code bytes allows at most 2 million instructions.
///
/// On sm_90 a pair of FP16 occupies both halves of the FMA pipe and is counted in each: a chain of
/// 2,048 HFMA2 counted 2.01 times as many. HFMA2.MMA runs on the pipe of the tensor cores, so
/// compilers alternate between both. Such a chain counts once per instruction.
constexpr std::uint64_t on_fma_pipe = 1;
constexpr std::uint64_t fp32_operations(std::uint64_t n) noexcept {
  return n << 32;
}
constexpr operation_table fma_of(std::uint32_t sm) {
  operation_table table{};
  auto const put = [&table](std::initializer_list<operation> ops, std::uint64_t entry) {
    for (auto const op : ops) table[op] = entry;
  };
  put({imad, imad_wide, idp, imad_high}, on_fma_pipe);
  put({hadd2, hfma2, hmul2}, sm == 90 ? 2 * on_fma_pipe : on_fma_pipe);
  put({fadd, fmul}, on_fma_pipe | fp32_operations(1));
  put({ffma}, on_fma_pipe | fp32_operations(2));
  if (sm >= 80 && sm < 90) put({hfma2_mma}, on_fma_pipe);
  if (sm == 100 || sm == 103) {
    put({fadd2, fmul2}, on_fma_pipe | fp32_operations(2));
    put({ffma2}, on_fma_pipe | fp32_operations(4));
  }
  return table;
}

constexpr std::uint32_t fp16_operations(operation op) noexcept {
  return op == hfma2 || op == hfma2_mma ? 4 : 2;
}

struct known_chip {
  std::uint32_t sm = 0;
  operation_table operations, fma;
};
template <std::uint32_t... Sm>
constexpr std::array<known_chip, sizeof...(Sm)> chips_of = {
    {{Sm, operations_of(Sm), fma_of(Sm)}...}};
constexpr auto& known_chips = chips_of<75, 80, 86, 87, 89, 90, 100, 103, 120, 121>;

known_chip const* find_chip(std::uint32_t sm) noexcept {
  auto const found = std::find_if(known_chips.begin(), known_chips.end(),
                                  [sm](known_chip const& chip) { return chip.sm == sm; });
  return found == known_chips.end() ? nullptr : &*found;
}

instruction instruction_at(std::uint8_t const* bytes) noexcept {
  instruction i;
  std::memcpy(&i.low, bytes, sizeof i.low);
  std::memcpy(&i.high, bytes + sizeof i.low, sizeof i.high);
  return i;
}

}  // namespace

bool knows_instructions_of(std::uint32_t sm) noexcept {
  return find_chip(sm) != nullptr;
}

stretch_of_code instructions_in(std::uint32_t sm, std::span<std::uint8_t const> code) noexcept {
  auto const* const chip = find_chip(sm);
  if (chip == nullptr) return {};
  std::uint64_t found = 0, on_pipe = 0;
  std::uint32_t fp16_sum = 0;
  for (; code.size() >= instruction_bytes; code = code.subspan(instruction_bytes)) {
    std::uint16_t start = 0;
    std::memcpy(&start, code.data(), sizeof start);
    auto const which = static_cast<operation>(start & operation_mask);
    auto const bits = chip->operations[which];
    on_pipe += chip->fma[which];
    if (bits == needs_closer_look) [[unlikely]] {
      auto const seen = look_closer(instruction_at(code.data()));
      found |= seen.bits();
      if (seen.has(fp16)) fp16_sum += fp16_operations(which);
    } else {
      found |= bits;
    }
  }
  return {
      instruction_set(found & ~calls),
      (found & calls) != 0,
      {static_cast<std::uint32_t>(on_pipe), static_cast<std::uint32_t>(on_pipe >> 32), fp16_sum}};
}

}  // namespace gpuprof::guest
