// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/operation_rates.hpp"

#include "host/analysis/flop_accounting.hpp"

#include <algorithm>
#include <array>

namespace gpuprof::host {
namespace {

// Operations per cycle of sm__pipe_tensor_cycles_active.avg and SM.
//
// The rates of GH100 were measured on an H200: with cuBLAS products for any number of wgmma columns
// (8 to 256), and with kernels of a single mma.sync. A deep mma.sync needs two cycles for what
// wgmma does in one and a third, a short 16-bit one for what wgmma does in one.
//
// The others were planned, not seen: they are CUPTI's peaks of sm__ops_path_tensor_* without
// sparsity, divided by that of the cycles. For GH100 this gives the measured rates. For short forms
// they are the peak of instructions times the operations of one, where this counter counts nothing
// else. Type and shape of tcgen05 are in a register.
struct class_rate {
  std::string_view chips;  // CUPTI's names
  instruction_class what{};
  double operations = 0;
  double bias = 0;  // as in tensor_rate
};
// As if one planned rate in ten were wrong by a factor of two.
constexpr double planned = 0.15;
constexpr std::string_view ga100_and_gb10x = "GA100 GB100 GB102",
                           ga100_to_gb110 = "GA100 GB100 GB102 GB110",
                           ga10x_and_ad10x =
                               "GA102 GA103 GA104 GA106 GA107 "
                               "AD102 AD103 AD104 AD106 AD107",
                           gb20x = "GB202 GB203 GB205 GB206 GB207 GB20B";
constexpr auto rates = [] {
  using enum instruction_class;
  return std::to_array<class_rate>({
      {"GH100", wgmma_fp16, 1024},
      {"GH100", wgmma_bf16, 1024},
      {"GH100", wgmma_tf32, 512},
      {"GH100", wgmma_fp8, 2048},
      {"GH100", wgmma_int8, 2048},
      {"GH100", mma_fp64, 64},
      {"GH100", mma_fp64_m8n8k4, 32},
      {"GH100", mma_fp16, 2048.0 / 3},
      {"GH100", mma_bf16, 2048.0 / 3},
      {"GH100", mma_tf32, 1024.0 / 3},
      {"GH100", mma_int8, 4096.0 / 3},
      {"GH100", mma_bf16_short, 512},
      {"GH100", mma_fp16_short, 512},
      {ga100_to_gb110, mma_fp16, 512, planned},
      {ga100_to_gb110, mma_bf16, 512, planned},
      {ga100_to_gb110, mma_tf32, 256, planned},
      {ga100_and_gb10x, mma_int8, 1024, planned},
      {"GB110", mma_int8, 128, planned},
      {"GA100", mma_fp64_m8n8k4, 32, planned},  // it has no larger ones
      {"GB100 GB102", mma_fp64, 32, planned},
      {ga10x_and_ad10x, mma_fp16, 256, planned},
      {ga10x_and_ad10x, mma_bf16, 256, planned},
      {ga10x_and_ad10x, mma_tf32, 128, planned},
      {ga10x_and_ad10x, mma_int8, 512, planned},
      {ga10x_and_ad10x, mma_fp8, 512, planned},
      {ga10x_and_ad10x, mma_fp16_short, 256, planned},
      {ga10x_and_ad10x, mma_bf16_short, 256, planned},
      {ga10x_and_ad10x, mma_tf32_short, 128, planned},
      {ga10x_and_ad10x, mma_int8_short, 512, planned},
      {gb20x, mma_fp16, 256, planned},
      {gb20x, mma_bf16, 256, planned},
      {gb20x, mma_tf32, 128, planned},
      {gb20x, mma_int8, 512, planned},
      {gb20x, mma_fp8, 512, planned},
      {gb20x, mma_fp6, 512, planned},
      {gb20x, mma_fp4, 1024, planned},
  });
}();

bool has_name(std::string_view names, std::string_view name) noexcept {
  return !name.empty() && names.find(name) != std::string_view::npos;
}

}  // namespace

std::set<shape_id> without_tensor_code(std::span<kernel_shape const> shapes,
                                       kernel_codes const& codes) {
  std::set<shape_id> without;
  for (auto const& shape : shapes) {
    auto const* const code = codes.find(shape.name);
    if (code != nullptr && code->is_complete && code->holds.tensor() == instruction_set())
      without.insert(shape.id);
  }
  return without;
}

std::optional<tensor_rate> rate_by_code(kernel_code const* code, chip_size const& gpu) noexcept {
  if (code == nullptr || !code->is_complete || gpu.sm_count == 0) return std::nullopt;
  // Operations per cycle of sparse instructions were not measured.
  if (code->holds.has(instruction_class::sparse_tensor)) return std::nullopt;
  for (auto const& rate : rates) {
    if (code->holds.tensor() != instruction_set(rate.what)) continue;
    if (!has_name(rate.chips, gpu.chip)) continue;
    for (auto const& one : classes_of_precisions())
      if (one.what == rate.what)
        return tensor_rate{one.of, rate.operations * gpu.sm_count, key_of(one.of), 0, rate.bias};
  }
  return std::nullopt;
}

namespace {

constexpr double threads_of_warp = 32;

// Loops run more often than the code around them and compute more. For 77 kernels of GPT-2 and
// ResNet-50 training with counted FP32 operations, an executed instruction computed 1.4 times
// (median) as much as the mean instruction of the code. With this factor, 78 and 80 % were within
// one error, 92 and 98 % within two.
constexpr double more_than_the_mean = 1.4;
constexpr double error_by_code = 0.5;
// With fewer operations per instruction in the code, most instructions compute addresses, and which
// of them run decides: strided elementwise kernels and sums of PyTorch compute 2.5 to 14 times as
// much as their code says, and casts nothing. At or above it, 0.5 to 1.3 times (H200).
constexpr double least_mean = 0.25;
// A warp with only one active lane issues as many instructions as one with all lanes.
constexpr double error_by_lanes = 1 - 1 / threads_of_warp;
// The most operations of one instruction for a thread: multiply-adds, in FP16 on pairs. HFMA2
// counts as two instructions of the pipes, but as one in code with HFMA2.MMA, which does not count.
constexpr double max_fp32 = 2, max_fp16 = 4, max_fp16_without_mma = 2;
// The geometry sets how often loops run, so workloads of one kernel differ; and run-time compilers
// make several kernels with one name.
constexpr double error_by_other_workload = 0.25;
// A reference with a larger sampling error is not used.
constexpr double sure_reference = 0.1;

/// Limits the rate to what the pipes can do. The arguments describe the mean instruction of the
/// code.
fma_rate within_pipes(double mean_fp32, double mean_fp16) noexcept {
  auto const greatest_fp16 = mean_fp16 > max_fp16_without_mma ? max_fp16 : max_fp16_without_mma;
  auto const fp32 = more_than_the_mean * mean_fp32, fp16 = more_than_the_mean * mean_fp16;
  auto const of_pipes = fp32 / max_fp32 + fp16 / greatest_fp16;
  auto const scale = threads_of_warp / std::max(of_pipes, 1.0);
  auto const room = of_pipes < 1 ? 1 / of_pipes - 1 : 0;
  return {fp32 * scale, fp16 * scale, error_by_lanes, std::min(error_by_code, room), true};
}

/// True if the code contains operations whose count is 0: the counted variant did not have them.
bool lacks_counts(kernel_code const& code) noexcept {
  using enum instruction_class;
  return (code.holds.has(fp32) && code.fma.fp32_operations == 0) ||
         (code.holds.has(fp16) && code.fma.fp16_operations == 0);
}

bool computes_on_cuda_cores_alone(kernel_code const* code) noexcept {
  return code != nullptr && code->is_complete && code->holds.tensor() == instruction_set();
}

}  // namespace

std::optional<fma_rate> fma_rate_by_code(kernel_code const* code, std::string_view chip) noexcept {
  if (chip != "GH100" || !computes_on_cuda_cores_alone(code)) return std::nullopt;
  auto const& fma = code->fma;
  if (fma.count == 0 || lacks_counts(*code)) return std::nullopt;
  auto const count = static_cast<double>(fma.count);
  if (fma.fp32_operations + fma.fp16_operations < least_mean * count) return std::nullopt;
  return within_pipes(fma.fp32_operations / count, fma.fp16_operations / count);
}

fma_rates::fma_rates(workload_metrics const& metrics, workload_times const& times,
                     std::span<kernel_shape const> shapes,
                     std::function<std::string_view(device_id)> const& chip_of,
                     kernel_codes const& codes)
    : codes_(codes) {
  for (auto const& shape : shapes) names_[shape.id] = shape.name;
  for (std::uint32_t i = 0; i < times.size(); ++i) {
    auto const& id = times.id(i);
    auto const [chip, is_new] = chips_.try_emplace(id.device, std::string_view());
    if (is_new) chip->second = chip_of(id.device);
    if (raw(id.graph) == 0) add(metrics, id, chip->second);
  }
}

/// Adds the counted operations of a workload that was also sampled.
void fma_rates::add(workload_metrics const& metrics, workload_id const& workload,
                    std::string_view chip) {
  auto const name = names_.find(workload.shape);
  auto const sampled = metrics.find(workload, fma_instructions_of_gpu);
  auto const* const code = code_of(workload);
  if (name == names_.end() || !sampled || !(sampled->mean > 0)) return;
  if (sampled->error > sure_reference * sampled->mean) return;
  auto const flop = count_flop(metrics.exact(), metrics.counted_as(workload), chip, code);
  auto const fp32 = flop[precision::fp32], fp16 = flop[precision::fp16];
  if (!fp32 || !fp16 || !(*fp32 + *fp16 > 0)) return;
  // If the counted operations exceed what the pipes can do, the samples missed some of the work.
  auto const of_pipes = (*fp32 / max_fp32 + *fp16 / max_fp16) / threads_of_warp / sampled->mean;
  if (of_pipes > 1 + sure_reference) return;
  auto const ratio = (*fp32 + *fp16) / sampled->mean;
  auto& known = rates_[{workload.device, name->second}];
  known.least = known.workloads == 0 ? ratio : std::min(known.least, ratio);
  known.greatest = std::max(known.greatest, ratio);
  known.instructions += sampled->mean;
  known.fp32 += *fp32;
  known.fp16 += *fp16;
  ++known.workloads;
}

std::optional<fma_rate> fma_rates::of(workload_id const& workload) const {
  auto const* const code = code_of(workload);
  if (!computes_on_cuda_cores_alone(code)) return std::nullopt;
  auto const known = rates_.find({workload.device, names_.at(workload.shape)});
  if (known == rates_.end()) return fma_rate_by_code(code, chips_.at(workload.device));
  auto const& counted = known->second;
  auto const apart = (counted.greatest - counted.least) / (counted.greatest + counted.least);
  auto const error = std::max(error_by_other_workload, apart);
  return fma_rate{counted.fp32 / counted.instructions, counted.fp16 / counted.instructions, error,
                  error};
}

kernel_code const* fma_rates::code_of(workload_id const& workload) const {
  auto const name = names_.find(workload.shape);
  if (raw(workload.graph) != 0 || name == names_.end()) return nullptr;
  return codes_.find(name->second);
}

namespace {

bool is_tensor(precision p) noexcept {
  return p >= precision::tensor_fp64;
}

/// Returns the operations in the only precision that the tensor cores used. nullopt if there were
/// several or not all were counted.
std::optional<tensor_rate> one_precision(launch_metrics const& counted, workload_id const& workload,
                                         std::string_view chip, kernel_code const* code) {
  auto const flop = count_flop(counted, workload, chip, code);
  if (!flop.total && !flop.tensor_alone) return std::nullopt;
  std::optional<tensor_rate> found;
  for (auto const& part : flop_parts(counted, workload)) {
    auto const of = part.counter->of;
    if (!is_tensor(of)) continue;
    if (found && found->of != of) return std::nullopt;
    if (!found) found = tensor_rate{of, 0, part.counter->peak_test, tensor_rate_error};
    found->operations += part.operations;
  }
  return found;
}

}  // namespace

tensor_rates::tensor_rates(launch_metrics const& counted, workload_times const& times,
                           std::span<kernel_shape const> shapes,
                           std::function<chip_size(device_id)> const& chip_of,
                           kernel_codes const& codes)
    : codes_(codes) {
  for (auto const& shape : shapes) names_[shape.id] = shape.name;
  for (std::uint32_t i = 0; i < times.size(); ++i) {
    auto const& id = times.id(i);
    chips_.try_emplace(id.device, chip_of(id.device));
    auto const name = names_.find(id.shape);
    auto const* const cycles = counted.find(id, tensor_cycles_of_sm);
    if (raw(id.graph) != 0 || name == names_.end()) continue;
    if (cycles == nullptr || !(cycles->mean() > 0)) continue;
    auto const rate = one_precision(counted, id, chips_[id.device].chip, code_of(id));
    auto const per_cycle = rate ? rate->operations / cycles->mean() : 0;
    auto const [at, is_new] = rates_.try_emplace({id.device, name->second});
    auto& known = at->second;
    if (is_new && rate) known = {*rate, per_cycle, per_cycle, true};
    known.add(per_cycle, rate && rate->of == known.rate.of);
  }
  for (auto& [key, known] : rates_) {
    known.end();
    auto const* const code = codes_.find(key.second);
    auto const by_code = rate_by_code(code, chips_[key.first]);
    if (!known.is_clear || !by_code || by_code->of != known.rate.of) continue;
    auto const [at, is_new] =
        by_class_.try_emplace({key.first, code->holds.tensor().bits()}, known);
    at->second.add(known.rate.operations, true);
  }
  for (auto& [key, known] : by_class_) known.end();
}

void tensor_rates::counted_rate::add(double per_cycle, bool is_alike) noexcept {
  is_clear = is_clear && is_alike;
  least = std::min(least, per_cycle);
  greatest = std::max(greatest, per_cycle);
}

void tensor_rates::counted_rate::end() noexcept {
  is_clear = is_clear && greatest <= least * tensor_rate_agreement;
  rate.operations = (least + greatest) / 2;
}

std::optional<tensor_rate> tensor_rates::of(workload_id const& workload) const {
  auto const name = names_.find(workload.shape);
  if (raw(workload.graph) != 0 || name == names_.end()) return std::nullopt;
  auto const known = rates_.find({workload.device, name->second});
  if (known != rates_.end() && known->second.is_clear) return known->second.rate;
  // The workloads of the kernel disagree, so there is no single rate.
  if (known != rates_.end() && known->second.least > 0) return std::nullopt;
  auto const chip = chips_.find(workload.device);
  if (chip == chips_.end()) return std::nullopt;
  auto const* const code = code_of(workload);
  auto rate = rate_by_code(code, chip->second);
  if (!rate || rate->bias == 0) return rate;
  auto const alike = by_class_.find({workload.device, code->holds.tensor().bits()});
  if (alike == by_class_.end() || !alike->second.is_clear) return rate;
  rate->operations = alike->second.rate.operations;
  rate->error = tensor_rate_error;
  rate->bias = 0;
  return rate;
}

kernel_code const* tensor_rates::code_of(workload_id const& workload) const {
  auto const name = names_.find(workload.shape);
  if (raw(workload.graph) != 0 || name == names_.end()) return nullptr;
  return codes_.find(name->second);
}

}  // namespace gpuprof::host
