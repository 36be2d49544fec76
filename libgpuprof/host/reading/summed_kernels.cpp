// SPDX-License-Identifier: Apache-2.0
#include "host/reading/summed_kernels.hpp"

#include <utility>

namespace gpuprof::host {
slowed_launches possibly_slowed(trace_contents& trace) {
  slowed_launches slowed;
  auto& file = trace.file();
  file.for_each<metric_record>([&](std::span<metric_record const> metrics) {
    for (auto const& metric : metrics) slowed.define(metric, trace.text()(metric.name));
  });
  file.for_each<read_launch_record>([&](std::span<read_launch_record const> samples) {
    for (auto const& sample : samples) slowed.add(sample);
  });
  file.for_each<pause_record>([&](std::span<pause_record const> pauses) {
    for (auto const& pause : pauses) slowed.add(pause);
  });
  if (slowed.any())
    for (auto const& shape : trace.shapes()) slowed.define(shape);
  return slowed;
}

summed_kernels::summed_kernels(trace_contents& trace) : slowed_(possibly_slowed(trace)) {}

void summed_kernels::add(capture::column_set<kernel_record> const& wanted, taker take) {
  wanted_.insert(wanted);
  takers_.push_back(std::move(take));
}

void summed_kernels::join(capture_walk& walk) {
  if (takers_.empty()) return;
  wanted_.insert(&kernel_record::duration);
  add_columns_of(slowed_, wanted_);
  walk.add<kernel_record>(wanted_, [this](std::span<kernel_record const> kernels) {
    if (slowed_.any())
      take_undisturbed(kernels);
    else
      take(kernels, false);
  });
}

void summed_kernels::take(std::span<kernel_record const> kernels, bool is_substituted) const {
  if (kernels.empty()) return;
  for (auto const& taker : takers_) taker(kernels, is_substituted);
}

void summed_kernels::take_undisturbed(std::span<kernel_record const> kernels) {
  std::size_t begin = 0;  // first kernel of a run of undisturbed ones
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    slowed_.see(kernels[i]);
    if (!slowed_.may_be_slowed(kernels[i])) continue;
    take(kernels.subspan(begin, i - begin), false);
    begin = i + 1;
    kept_.push_back(kernels[i]);
  }
  take(kernels.subspan(begin), false);
}

void summed_kernels::finish() {
  for (auto kernel : kept_) {
    auto const instead = slowed_.undisturbed(kernel);
    if (instead) kernel.duration = *instead;
    take({&kernel, 1}, instead.has_value());
  }
  kept_ = {};
}

slowed_launches read_slowed_launches(trace_contents& trace) {
  auto slowed = possibly_slowed(trace);
  capture_walk walk(trace.file());
  see_kernels(slowed, walk);
  walk.run();
  return slowed;
}

void see_kernels(slowed_launches& slowed, capture_walk& walk) {
  if (!slowed.any()) return;
  auto columns = capture::only(&kernel_record::duration);
  add_columns_of(slowed, columns);
  walk.add_each<kernel_record>(columns,
                               [&slowed](kernel_record const& kernel) { slowed.see(kernel); });
}

void add_columns_of(slowed_launches const& slowed, capture::column_set<kernel_record>& to) {
  if (!slowed.any()) return;
  to.insert(&kernel_record::correlation);
  to.insert(&kernel_record::shape);
  to.insert(&kernel_record::device);
  to.insert(&kernel_record::start);
  to.insert(&kernel_record::duration);
}

}  // namespace gpuprof::host
