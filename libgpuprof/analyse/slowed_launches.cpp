// SPDX-License-Identifier: Apache-2.0
#include "analyse/slowed_launches.hpp"

#include "analyse/samples.hpp"

namespace gpuprof {

void slowed_launches::see(kernel_record const& kernel) {
  if (readings_.sampling_of(kernel.correlation) != sampling::none) return;
  auto& sum = by_shape_[raw(kernel.shape)];
  sum.ns += nanoseconds(kernel.duration);
  ++sum.launches;
}

std::optional<duration_ns> slowed_launches::undisturbed(kernel_record const& kernel) const {
  if (!any_ || readings_.sampling_of(kernel.correlation) != sampling::slowed) return std::nullopt;
  auto const found = by_shape_.find(raw(kernel.shape));
  if (found == by_shape_.end()) return std::nullopt;
  auto const& [ns, launches] = found->second;
  return duration_ns{static_cast<std::int64_t>((ns + launches / 2) / launches)};
}

}  // namespace gpuprof
