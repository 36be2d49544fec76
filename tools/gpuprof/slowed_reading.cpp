// SPDX-License-Identifier: Apache-2.0
#include "slowed_reading.hpp"

namespace gpuprof {

slowed_launches read_slowed_launches(trace_contents& trace) {
  slowed_launches slowed;
  auto& file = trace.file();
  file.for_each<metric_record>([&](std::span<metric_record const> metrics) {
    for (auto const& metric : metrics) slowed.define(metric, trace.text()(metric.name));
  });
  file.for_each<sampled_launch_record>([&](std::span<sampled_launch_record const> samples) {
    for (auto const& sample : samples) slowed.add(sample);
  });
  file.for_each<pause_record>([&](std::span<pause_record const> pauses) {
    for (auto const& pause : pauses) slowed.add(pause);
  });
  if (!slowed.any()) return slowed;
  for (auto const& shape : trace.shapes()) slowed.define(shape);
  auto columns = capture::only(&kernel_record::duration);
  add_columns_of(slowed, columns);
  file.for_each<kernel_record>(
      [&](std::span<kernel_record const> kernels) {
        for (auto const& kernel : kernels) slowed.see(kernel);
      },
      columns);
  return slowed;
}

void add_columns_of(slowed_launches const& slowed, capture::column_set<kernel_record>& to) {
  if (!slowed.any()) return;
  to.insert(&kernel_record::correlation);
  to.insert(&kernel_record::shape);
  to.insert(&kernel_record::device);
  to.insert(&kernel_record::start);
  to.insert(&kernel_record::duration);
}

}  // namespace gpuprof
