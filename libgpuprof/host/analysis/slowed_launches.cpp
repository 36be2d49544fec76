// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/slowed_launches.hpp"

#include "host/analysis/counted_outside.hpp"
#include "host/analysis/samples.hpp"

#include <algorithm>

namespace gpuprof::host {

void slowed_launches::define(kernel_shape const& shape) {
  auto& all = variants_[without_arguments(shape)];
  if (shape.arguments == arguments_not_looked_at) {
    without_arguments_[raw(shape.id)] = &all;
    return;
  }
  all.several |= all.arguments_known != shape_id{} || shape.arguments == arguments_of_many_values;
  all.arguments_known = shape.id;
}

shape_id slowed_launches::work_of(shape_id shape) const {
  auto const found = without_arguments_.find(raw(shape));
  if (found == without_arguments_.end()) return shape;
  auto const& all = *found->second;
  return all.several || all.arguments_known == shape_id{} ? shape : all.arguments_known;
}

void slowed_launches::see(kernel_record const& kernel) {
  auto& sum = by_work_[raw(work_of(kernel.shape))];
  if (readings_.sampling_of(kernel.correlation) != sampling::none) {
    ++sum.read;
    return;
  }
  if (ran_in_pause(kernel)) {
    ++sum.in_pause;
    return;
  }
  auto const ns = nanoseconds(kernel.duration);
  sum.ns += ns;
  sum.longest_ns = std::max(sum.longest_ns, ns);
  ++sum.launches;
}

bool slowed_launches::ran_in_pause(kernel_record const& kernel) const noexcept {
  return std::any_of(pauses_.begin(), pauses_.end(), [&](pause_record const& pause) {
    return pause.device == kernel.device && kernel.start < pause.start + pause.duration &&
           pause.start < kernel.start + kernel.duration;
  });
}

std::optional<duration_ns> slowed_launches::undisturbed(kernel_record const& kernel) const {
  if (!may_be_slowed(kernel)) return std::nullopt;
  auto const how = readings_.sampling_of(kernel.correlation);
  auto const found = by_work_.find(raw(work_of(kernel.shape)));
  if (found == by_work_.end() || found->second.launches == 0) return std::nullopt;
  auto const& others = found->second;
  auto const is_slowed =
      how == sampling::slowed ||
      (tells_longest(others, how) && nanoseconds(kernel.duration) > others.longest_ns);
  if (!is_slowed) return std::nullopt;
  return duration_ns{
      static_cast<std::int64_t>((others.ns + others.launches / 2) / others.launches)};
}

}  // namespace gpuprof::host
