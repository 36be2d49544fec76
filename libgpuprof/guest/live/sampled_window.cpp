// SPDX-License-Identifier: Apache-2.0
#include "guest/live/sampled_window.hpp"

#include "host/analysis/sampling/sample_attribution.hpp"

namespace gpuprof::guest {

using namespace host;  // the arithmetic of reports

namespace {

template <class Record>
Record filled_in(sampled_work const& work, device_id device) {
  Record record;
  record.device = device;
  record.start = work.start;
  record.duration = work.duration;
  return record;
}

void show(sampled_work const& work, device_id device, sample_attribution& to) {
  auto const bytes = static_cast<std::uint64_t>(work.bytes);
  if (work.is == sampled_work::kind::copy) {
    auto copy = filled_in<copy_record>(work, device);
    copy.kind = work.direction;
    copy.bytes = bytes;
    return to.see(copy);
  }
  if (work.is == sampled_work::kind::fill) {
    auto fill = filled_in<memset_record>(work, device);
    fill.bytes = bytes;
    return to.see(fill);
  }
  auto launch = filled_in<kernel_record>(work, device);
  launch.correlation = work.correlation;
  workload_id workload{device, {}, {}};
  if (work.is == sampled_work::kind::graph)
    workload.graph = static_cast<graph_id>(work.workload);
  else
    workload.shape = static_cast<shape_id>(work.workload);
  to.see(launch, workload);
}

}  // namespace

sampled_figures sampled_window::divide() const {
  sample_attribution division(max_unknowns);
  for (auto const& capture : captures) division.add_capture(capture.start, capture.end);
  for (auto const& metric : metrics) division.define(metric.record, metric.name);
  division.add(window);
  for (auto const& sample : samples) division.add(sample);
  division.end_samples();
  for (auto const& piece : work) show(piece, window.device, division);
  division.attribute();
  return division.figures();
}

}  // namespace gpuprof::guest
