// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/operation_rates.hpp"

#include "host/analysis/flop_accounting.hpp"

#include <algorithm>
#include <array>

namespace gpuprof::host {
namespace {

// Operations per cycle of sm__pipe_tensor_cycles_active.avg and SM, measured on an H200: with
// cuBLAS products for any number of wgmma columns (8 to 256), and with kernels of a single
// mma.sync. A deep mma.sync needs two cycles for what wgmma does in one and a third, a short 16-bit
// one for what wgmma does in one.
struct measured_rate {
  std::string_view chip;
  instruction_class what{};
  double operations = 0;
  std::string_view peak_test;
};
constexpr auto rates = [] {
  using enum instruction_class;
  return std::to_array<measured_rate>({
      {"GH100", wgmma_fp16, 1024, "tensor_fp16"},
      {"GH100", wgmma_bf16, 1024, "tensor_bf16"},
      {"GH100", wgmma_tf32, 512, "tensor_tf32"},
      {"GH100", wgmma_fp8, 2048, "tensor_fp8"},
      {"GH100", wgmma_int8, 2048, "tensor_int8"},
      {"GH100", mma_fp64, 64, "tensor_fp64"},
      {"GH100", mma_fp64_m8n8k4, 32, "tensor_fp64"},
      {"GH100", mma_fp16, 2048.0 / 3, "tensor_fp16"},
      {"GH100", mma_bf16, 2048.0 / 3, "tensor_bf16"},
      {"GH100", mma_tf32, 1024.0 / 3, "tensor_tf32"},
      {"GH100", mma_int8, 4096.0 / 3, "tensor_int8"},
      {"GH100", mma_bf16_short, 512, "tensor_bf16"},
      {"GH100", mma_fp16_short, 512, "tensor_fp16"},
  });
}();

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
    if (rate.chip != gpu.chip || code->holds.tensor() != instruction_set(rate.what)) continue;
    for (auto const& one : classes_of_precisions())
      if (one.what == rate.what)
        return tensor_rate{one.of, rate.operations * gpu.sm_count, rate.peak_test, 0};
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
    known.is_clear = known.is_clear && rate && rate->of == known.rate.of;
    known.least = std::min(known.least, per_cycle);
    known.greatest = std::max(known.greatest, per_cycle);
  }
  for (auto& [key, known] : rates_) {
    known.is_clear = known.is_clear && known.greatest <= known.least * tensor_rate_agreement;
    known.rate.operations = (known.least + known.greatest) / 2;
  }
}

std::optional<tensor_rate> tensor_rates::of(workload_id const& workload) const {
  auto const name = names_.find(workload.shape);
  if (raw(workload.graph) != 0 || name == names_.end()) return std::nullopt;
  auto const known = rates_.find({workload.device, name->second});
  if (known != rates_.end() && known->second.is_clear) return known->second.rate;
  // The workloads of the kernel disagree, so there is no single rate.
  if (known != rates_.end() && known->second.least > 0) return std::nullopt;
  auto const chip = chips_.find(workload.device);
  return chip == chips_.end() ? std::nullopt : rate_by_code(code_of(workload), chip->second);
}

kernel_code const* tensor_rates::code_of(workload_id const& workload) const {
  auto const name = names_.find(workload.shape);
  if (raw(workload.graph) != 0 || name == names_.end()) return nullptr;
  return codes_.find(name->second);
}

}  // namespace gpuprof::host
