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
  if (!slowed.any()) return slowed;
  file.for_each<kernel_record>(
      [&](std::span<kernel_record const> kernels) {
        for (auto const& kernel : kernels) slowed.see(kernel);
      },
      capture::only(&kernel_record::shape, &kernel_record::duration, &kernel_record::correlation));
  return slowed;
}

}  // namespace gpuprof
