// SPDX-License-Identifier: Apache-2.0
#include "guest/metrics/inventory/idle_counters.hpp"

#include <initializer_list>

namespace gpuprof::guest {
namespace {

using enum instruction_class;

constexpr std::string_view tensor_prefix = "sm__ops_path_tensor_src_";
constexpr std::string_view patched_prefix = "smsp__sass_thread_inst_executed_op_";

constexpr instruction_set any_of(std::initializer_list<instruction_class> classes) noexcept {
  instruction_set all;
  for (auto const one : classes) all.insert(one);
  return all;
}

struct counted_classes {
  std::string_view name;  // prefix of the counter's name
  instruction_set by;
};
constexpr auto fp64_classes = any_of({mma_fp64_m8n8k4, mma_fp64});
constexpr auto fp16_classes =
    any_of({mma_fp16, mma_fp16_short, wgmma_fp16, tcgen05_fp16_bf16_tf32});
constexpr auto bf16_classes =
    any_of({mma_bf16, mma_bf16_short, wgmma_bf16, tcgen05_fp16_bf16_tf32});
constexpr auto tf32_classes =
    any_of({mma_tf32, mma_tf32_short, wgmma_tf32, tcgen05_fp16_bf16_tf32});
// Chips differ in which of these they count together.
constexpr auto narrow_classes =
    any_of({mma_fp8, mma_fp6, mma_fp4, wgmma_fp8, tcgen05_fp8_fp6_fp4, tcgen05_fp4});
constexpr auto integer_classes =
    any_of({mma_int8, mma_int8_short, mma_int4, mma_bit, wgmma_int8, wgmma_bit, tcgen05_int8});

// Longer names must come first: the first match counts.
constexpr counted_classes tensor_counters[] = {
    {"fp16_bf16_tf32", fp16_classes | bf16_classes | tf32_classes},
    {"fp16", fp16_classes},
    {"bf16", bf16_classes},
    {"tf32", tf32_classes},
    {"fp64", fp64_classes},
    {"fp8", narrow_classes},
    {"fp4", narrow_classes},
    {"int8", integer_classes}};
constexpr counted_classes patched_counters[] = {{"dadd", fp64}, {"dmul", fp64}, {"dfma", fp64},
                                                {"fadd", fp32}, {"fmul", fp32}, {"ffma", fp32},
                                                {"hadd", fp16}, {"hmul", fp16}, {"hfma", fp16}};

template <std::size_t N>
bool has_none(kernel_code const& code, std::string_view name,
              counted_classes const (&counters)[N]) noexcept {
  for (auto const& counter : counters)
    if (name.starts_with(counter.name)) return (code.holds.bits() & counter.by.bits()) == 0;
  return false;
}

}  // namespace

bool leaves_idle(kernel_code const& code, std::string_view metric) noexcept {
  if (!code.is_complete) return false;
  if (metric.starts_with(tensor_prefix))
    return has_none(code, metric.substr(tensor_prefix.size()), tensor_counters);
  if (metric.starts_with(patched_prefix))
    return has_none(code, metric.substr(patched_prefix.size()), patched_counters);
  return false;
}

}  // namespace gpuprof::guest
