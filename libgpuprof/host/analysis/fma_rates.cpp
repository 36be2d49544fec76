// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/fma_rates.hpp"

#include "host/analysis/flop_accounting.hpp"

#include <algorithm>

namespace gpuprof::host {
namespace {

constexpr double threads_of_warp = 32;

// Loops, which run more often than the code around them, compute more: of 77 kernels of GPT-2 and
// ResNet-50 training whose FP32 operations were counted as well, an instruction computed 1.4 times
// (median) what the mean instruction of their code does. So taken, 78 and 80 % were within one
// error, 92 and 98 % within two.
constexpr double more_than_the_mean = 1.4;
constexpr double error_by_code = 0.5;
// A warp whose lanes are all off but one issues as many instructions as one with all lanes.
constexpr double error_by_lanes = 1 - 1 / threads_of_warp;
// The most that an instruction computes for a thread: multiply-adds, of pairs in FP16. HFMA2 is
// two instructions of the pipes; only beside HFMA2.MMA, which is none of them, it is one.
constexpr double max_fp32 = 2, max_fp16 = 4, max_fp16_without_mma = 2;
// Loops run as often as the geometry says, so that the workloads of a kernel differ; and compilers
// at run time make several kernels of one name.
constexpr double error_by_other_workload = 0.25;
// A reference whose samples say less is none.
constexpr double sure_reference = 0.1;

/// At most what the pipes can do. The arguments are those of the mean instruction of the code.
fma_rate within_pipes(double mean_fp32, double mean_fp16) noexcept {
  auto const greatest_fp16 = mean_fp16 > max_fp16_without_mma ? max_fp16 : max_fp16_without_mma;
  auto const fp32 = more_than_the_mean * mean_fp32, fp16 = more_than_the_mean * mean_fp16;
  auto const of_pipes = fp32 / max_fp32 + fp16 / greatest_fp16;
  auto const scale = threads_of_warp / std::max(of_pipes, 1.0);
  auto const room = of_pipes < 1 ? 1 / of_pipes - 1 : 0;
  return {fp32 * scale, fp16 * scale, error_by_lanes, std::min(error_by_code, room), true};
}

/// What its code holds and its counts lack was not seen in the variant that was counted.
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

/// What was counted of a workload, if it was sampled as well.
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
  // More than the pipes can do: samples saw less than what ran.
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

}  // namespace gpuprof::host
