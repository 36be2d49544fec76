// SPDX-License-Identifier: Apache-2.0
#include "model/flop_counters.hpp"

#include <iterator>

namespace gpuprof {
namespace {

// Families of chips with the same counters, one bit each. From CUPTI 13.0, `gpuprof metrics
// --chip`.
using families = std::uint32_t;
constexpr families gv100 = 1u << 0, tu10x = 1u << 1, tu11x = 1u << 2, ga100 = 1u << 3,
                   ga10x = 1u << 4, gh100 = 1u << 5, ad10x = 1u << 6, gb100 = 1u << 7,
                   gb110 = 1u << 8, gb10b = 1u << 9, gb20x = 1u << 10;
constexpr families every = (1u << 11) - 1;
constexpr families gb10x = gb100 | gb110;
constexpr families blackwell = gb10x | gb10b | gb20x;
constexpr families since_ampere = every & ~(gv100 | tu10x | tu11x);

struct known_chip {
  std::string_view name;  // prefix of the name; the longest match counts
  families family;
};
constexpr known_chip chips[] = {{"GV100", gv100}, {"TU10", tu10x},  {"TU11", tu11x},
                                {"GA100", ga100}, {"GA10", ga10x},  {"GH100", gh100},
                                {"AD10", ad10x},  {"GB100", gb100}, {"GB102", gb100},
                                {"GB110", gb110}, {"GB10B", gb10b}, {"GB20", gb20x}};

// CUDA cores: "# of FFMA thread instructions executed where all predicates were true", so one for
// each thread; a fused multiply-add is two operations. Instructions that end in a number process
// that many values at once ("# of FFMA2 thread instructions", "# of QFMA4 ..."). HADD, HMUL and
// HFMA are HADD2, HMUL2 and HFMA2 in machine code, which compute two halves per thread; Nsight
// Compute's roofline also uses HFMA times four. On GB10x FADD and FFMA include FHADD and FHFMA.
//
// Tensor cores: "# of math ops executed in Tensor path with source BF16 and destination FP32";
// equal to 2 M N K of cuBLAS products on an H200, within tile padding. Counters that combine FP4,
// FP6 and FP8 sources run at the rate of the widest.
#define SASS(op) "smsp__sass_thread_inst_executed_op_" op "_pred_on.sum"
#define TENSOR(type) "sm__ops_path_tensor_src_" type ".sum"
using enum precision;
constexpr flop_counter counters[] = {
    {SASS("dadd"), fp64, 1, "fp64", every},
    {SASS("dmul"), fp64, 1, "fp64", every},
    {SASS("dfma"), fp64, 2, "fp64", every},
    {SASS("fadd"), fp32, 1, "fp32", every},
    {SASS("fmul"), fp32, 1, "fp32", every},
    {SASS("ffma"), fp32, 2, "fp32", every},
    {SASS("fadd2"), fp32, 2, "fp32", gb10x},
    {SASS("fmul2"), fp32, 2, "fp32", gb10x},
    {SASS("ffma2"), fp32, 4, "fp32", gb10x},
    {SASS("hadd"), fp16, 2, "fp16", every},
    {SASS("hmul"), fp16, 2, "fp16", every},
    {SASS("hfma"), fp16, 4, "fp16", every},
    {SASS("qadd4"), fp8, 4, "", gb10x},
    {SASS("qmul4"), fp8, 4, "", gb10x},
    {SASS("qfma4"), fp8, 8, "", gb10x},

    {TENSOR("fp64"), tensor_fp64, 1, "tensor_fp64", since_ampere},
    {TENSOR("tf32_dst_fp32"), tensor_tf32, 1, "tensor_tf32", since_ampere},
    {TENSOR("fp16"), tensor_fp16, 1, "tensor_fp16", gh100},
    {TENSOR("fp16_dst_fp32"), tensor_fp16, 1, "tensor_fp16", every & ~(tu10x | tu11x | gh100)},
    {TENSOR("fp16_dst_fp16"), tensor_fp16, 1, "tensor_fp16_acc16", every & ~(tu11x | gh100)},
    {TENSOR("fp16_bf16_tf32_dst_fp32"), tensor_fp16, 1, "tensor_fp16", tu10x},
    {TENSOR("bf16_dst_fp32"), tensor_bf16, 1, "tensor_bf16", since_ampere},
    {TENSOR("fp8"), tensor_fp8, 1, "tensor_fp8", gh100 | ad10x},
    {TENSOR("fp8_dst_fp32"), tensor_fp8, 1, "tensor_fp8", gb110 | gb20x},
    {TENSOR("fp8_dst_fp16"), tensor_fp8, 1, "tensor_fp8", gb110 | gb20x},
    {TENSOR("fp4_fp6_fp8_dst_fp32"), tensor_fp8, 1, "tensor_fp8", gb100 | gb10b},
    {TENSOR("fp4_fp6_fp8_dst_fp16"), tensor_fp8, 1, "tensor_fp8", gb100 | gb10b},
    {TENSOR("fp4_fp6_dst_fp32"), tensor_fp6, 1, "tensor_fp6", gb110 | gb20x},
    {TENSOR("fp4_fp6_dst_fp16"), tensor_fp6, 1, "tensor_fp6", gb110 | gb20x},
    {TENSOR("fp4_dst_fp32"), tensor_fp4, 1, "tensor_fp4", blackwell},
    {TENSOR("int8"), tensor_int8, 1, "tensor_int8", every & ~(gv100 | tu11x)},
};
static_assert(std::size(counters) == flop_counter_count);
#undef SASS
#undef TENSOR

families family_of(std::string_view chip) noexcept {
  known_chip const* best = nullptr;
  for (auto const& known : chips)
    if (chip.starts_with(known.name) && (best == nullptr || known.name.size() > best->name.size()))
      best = &known;
  return best == nullptr ? 0 : best->family;
}

}  // namespace

std::span<flop_counter const, flop_counter_count> flop_counters() noexcept {
  return counters;
}

std::optional<bool> has_counter(std::string_view chip, flop_counter const& counter) noexcept {
  auto const family = family_of(chip);
  if (family == 0) return std::nullopt;
  return (counter.chips & family) != 0;
}

namespace {

bool is_tensor(std::size_t p) noexcept {
  return p >= static_cast<std::size_t>(precision::tensor_fp64);
}

}  // namespace

std::string_view name_of(flop_source source) noexcept {
  switch (source) {
    case flop_source::counted:
      return "counted";
    case flop_source::tensor_counted:
      return "tensor counted";
    case flop_source::sampled:
      return "sampled";
    case flop_source::tensor_cycles:
      return "tensor cycles";
    case flop_source::machine_code:
      return "machine code";
    case flop_source::declared:
      return "declared";
    case flop_source::not_measured:
      break;
  }
  return "not measured";
}

counted_flop count_flop(counter_means const& means, std::string_view chip,
                        kernel_code const* code) {
  struct tally {
    double operations = 0;
    bool missing = false, any = false;
  };
  std::array<tally, precision_count> tallies;
  bool const chip_is_known = family_of(chip) != 0;
  for (std::size_t i = 0; i < flop_counter_count; ++i) {
    auto const& counter = counters[i];
    if (!has_counter(chip, counter).value_or(means.was_planned[i])) continue;
    auto& tally = tallies[static_cast<std::size_t>(counter.of)];
    tally.any = true;
    if (means.of[i])
      tally.operations += counter.operations * *means.of[i];
    else
      tally.missing = true;
  }
  counted_flop flop;
  flop.is_by_code = true;
  double total = 0, tensor = 0;
  bool complete = true, tensor_complete = true;
  for (std::size_t p = 0; p < precision_count; ++p) {
    auto const& tally = tallies[p];
    auto const not_counted = tally.any ? tally.missing : !chip_is_known;
    if (not_counted && !has_none_of(code, static_cast<precision>(p))) {
      complete = false;
      flop.is_missing[p] = true;
      if (is_tensor(p)) tensor_complete = false;
      continue;
    }
    if (!tally.any && !not_counted) continue;  // the chip has no such unit
    if (!not_counted) flop.is_by_code = false;
    // also if some counters were not read, but the code has no such instructions
    flop.of[p] = tally.operations;
    total += tally.operations;
    if (is_tensor(p)) tensor += tally.operations;
  }
  flop.is_by_code = flop.is_by_code && complete;
  if (complete)
    flop.total = total;
  else if (tensor_complete && tensor > 0)
    flop.tensor_alone = tensor;
  return flop;
}

}  // namespace gpuprof
