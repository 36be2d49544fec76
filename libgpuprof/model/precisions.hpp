// SPDX-License-Identifier: Apache-2.0
// Names the kinds of arithmetic and tells which of them the machine code of a kernel can use; names
// the peaks that can bound a kernel and finds the one that it is closest to.
#pragma once

#include "model/kernel_code.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace gpuprof {

/// The kinds of arithmetic that are told apart.
enum class precision : std::uint8_t {
  fp64,
  fp32,
  fp16,  // BF16 too: one instruction computes either
  fp8,
  tensor_fp64,
  tensor_tf32,
  tensor_fp16,
  tensor_bf16,
  tensor_fp8,
  tensor_fp6,
  tensor_fp4,
  tensor_int8,  // integer operations; no FLOP, but they count in totals as what the GPU computed
};
inline constexpr std::size_t precision_count = 12;

std::string_view name_of(precision p) noexcept;  // "tensor BF16"
std::string_view key_of(precision p) noexcept;   // "tensor_bf16"

/// Tensor cores and CUDA cores that compute one precision execute these instructions.
struct class_of_precision {
  instruction_class what{};
  precision of{};
};
std::span<class_of_precision const> classes_of_precisions() noexcept;

/// True if the code holds no instruction that computes in this precision. False if `code` is
/// nullptr or does not tell.
bool has_none_of(kernel_code const* code, precision p) noexcept;

// Names the peaks that can bound a kernel and finds the one that it is closest to.

/// What a kernel can be bound by. Roofs first, in the order of roof_shares.
struct bound_by {
  enum class kind : std::uint8_t { unknown, dram, l2, compute, latency };
  kind what = kind::unknown;
  precision of{};  // compute only
  friend bool operator==(bound_by const&, bound_by const&) = default;
};
/// "DRAM", "L2", "tensor BF16", "latency"; empty when it is not known.
std::string_view name_of(bound_by const& bound) noexcept;

/// Below this share of every roof nothing is saturated: work waits for latency.
inline constexpr double latency_bound_below = 0.4;

/// Shares of DRAM, L2 and of the compute peak of each precision; 1 is the roof.
inline constexpr std::size_t roof_count = 2 + precision_count;
using roof_shares = std::array<std::optional<double>, roof_count>;
inline constexpr std::size_t dram_roof = 0, l2_roof = 1, compute_roofs = 2;
bound_by roof_of(std::size_t index) noexcept;

struct nearest_roof {
  double share = 0;
  bound_by bound;
};
/// Nothing where none is known, or all that are known are far; `every_roof`: all are known that
/// may matter.
std::optional<nearest_roof> highest_share(roof_shares const& shares, bool every_roof) noexcept;

/// What is known for less of a line's time is not shown as the line's.
inline constexpr double least_known_share = 0.5;

/// The metrics from which rates of a roofline come. Chips name the same thing differently; those
/// with memory of the processor count no DRAM bytes.
inline constexpr std::string_view dram_read_names[] = {"dram__bytes_read.sum",
                                                       "dram__bytes_op_read.sum"};
inline constexpr std::string_view dram_write_names[] = {"dram__bytes_write.sum",
                                                        "dram__bytes_op_write.sum"};
inline constexpr std::string_view l2_bytes_name = "lts__t_bytes.sum";
inline constexpr std::string_view sm_clock_name = "sm__cycles_elapsed.avg.per_second";
inline constexpr std::string_view occupancy_name =
    "sm__warps_active.avg.pct_of_peak_sustained_active";
inline constexpr std::string_view active_cycles_of_sm = "sm__cycles_active.avg";
/// Adds up the four parts of an SM.
inline constexpr std::string_view tensor_cycles_of_sm = "sm__pipe_tensor_cycles_active.avg";

}  // namespace gpuprof
