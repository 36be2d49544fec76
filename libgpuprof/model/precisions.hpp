// SPDX-License-Identifier: Apache-2.0
// Names the kinds of arithmetic, and finds which of them the machine code of a kernel can use.
// Names the peaks that can bound a kernel and finds the nearest one.
#pragma once

#include "model/kernel_code.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace gpuprof {

/// The kinds of arithmetic that are distinguished.
enum class precision : std::uint8_t {
  fp64,
  fp32,
  fp16,  // also BF16: the instruction is the same
  fp8,
  tensor_fp64,
  tensor_tf32,
  tensor_fp16,
  tensor_bf16,
  tensor_fp8,
  tensor_fp6,
  tensor_fp4,
  tensor_int8,  // integer operations, not FLOP, but included in totals of what the GPU computed
};
inline constexpr std::size_t precision_count = 12;

std::string_view name_of(precision p) noexcept;  // "tensor BF16"
std::string_view key_of(precision p) noexcept;   // "tensor_bf16"

/// Maps a class of instructions to the precision it computes in, on tensor cores or CUDA cores.
struct class_of_precision {
  instruction_class what{};
  precision of{};
};
std::span<class_of_precision const> classes_of_precisions() noexcept;

/// Returns true if the code has no instruction that computes in this precision. False if `code` is
/// nullptr or incomplete.
bool has_none_of(kernel_code const* code, precision p) noexcept;

// Names the peaks that can bound a kernel and finds the nearest one.

/// The bound of a kernel. Roofs come first, in the order of roof_shares.
struct bound_by {
  enum class kind : std::uint8_t { unknown, dram, l2, compute, latency };
  kind what = kind::unknown;
  precision of{};  // only for compute
  friend bool operator==(bound_by const&, bound_by const&) = default;
};
/// Returns "DRAM", "L2", "tensor BF16", "latency", or an empty text if it is not known.
std::string_view name_of(bound_by const& bound) noexcept;

/// If all shares of roofs are below this, nothing is saturated: the kernel is bound by latency.
inline constexpr double latency_bound_below = 0.4;

/// Shares of the DRAM roof, the L2 roof and the compute peak of each precision; 1 is the roof.
inline constexpr std::size_t roof_count = 2 + precision_count;
using roof_shares = std::array<std::optional<double>, roof_count>;
inline constexpr std::size_t dram_roof = 0, l2_roof = 1, compute_roofs = 2;
bound_by roof_of(std::size_t index) noexcept;

struct nearest_roof {
  double share = 0;
  bound_by bound;
};
/// Returns nothing if no share is known, or if all known shares are low and `every_roof` is false.
/// `every_roof`: all relevant shares are known. L2 is not what a kernel waits for if its tensor
/// cores were active for a larger share of the time than `shares` has for L2.
std::optional<nearest_roof> highest_share(roof_shares const& shares, bool every_roof,
                                          std::optional<double> tensor_active = {}) noexcept;

/// No share is above 1; one that exceeds it by more than 5 % is left out, because that roof does
/// not hold for the kernel. L2 always loses its share: its roof was measured by reading only.
void limit_shares(roof_shares& shares) noexcept;

/// A line shows a value only if it is known for at least this share of the line's time.
inline constexpr double least_known_share = 0.5;

/// The metrics used for roofline rates. Some chips use the other name; chips that use the
/// processor's memory do not count DRAM bytes.
inline constexpr std::string_view dram_read_names[] = {"dram__bytes_read.sum",
                                                       "dram__bytes_op_read.sum"};
inline constexpr std::string_view dram_write_names[] = {"dram__bytes_write.sum",
                                                        "dram__bytes_op_write.sum"};
inline constexpr std::string_view l2_bytes_name = "lts__t_bytes.sum";
inline constexpr std::string_view sm_clock_name = "sm__cycles_elapsed.avg.per_second";
inline constexpr std::string_view occupancy_name =
    "sm__warps_active.avg.pct_of_peak_sustained_active";
inline constexpr std::string_view active_cycles_of_sm = "sm__cycles_active.avg";
/// Sums over the four parts of an SM.
inline constexpr std::string_view tensor_cycles_of_sm = "sm__pipe_tensor_cycles_active.avg";

}  // namespace gpuprof
