// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/tensor_rates.hpp"

#include <algorithm>

namespace gpuprof::host {
namespace {

bool is_tensor(precision p) noexcept {
  return p >= precision::tensor_fp64;
}

/// Operations in the one precision that the tensor cores worked in; nullopt when there were several
/// or not all were counted.
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
  // Its workloads do not agree: there is no one rate.
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
