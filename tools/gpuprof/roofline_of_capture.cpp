// SPDX-License-Identifier: Apache-2.0
#include "roofline_of_capture.hpp"

#include "host/report/summary_tables.hpp"
#include "later_peaks.hpp"

namespace gpuprof {

std::vector<roofline_row> lines_of(roofline_lines by, roofline const& roofs, trace_contents& trace,
                                   std::vector<range_work> const& ranges) {
  auto const& labels = trace.labels(kernel_name_style::demangled);
  switch (by) {
    case roofline_lines::kernels:
      return roofs.by_kernel(labels);
    case roofline_lines::signatures:
      return roofs.by_signature(labels, trace.shapes());
    case roofline_lines::graphs:
      return roofs.by_graph(labels);
    case roofline_lines::ranges:
      break;
  }
  return roofs.by_range(ranges,
                        [&](range_key key) { return report::range_name(key, trace.text()); });
}

moments find_peaks(trace_contents& trace, roofline_reading& read) {
  // Another profiler's capture holds no peaks, however early they were measured.
  auto const is_imported = !trace.fact("import.format").empty();
  auto const earliest = is_imported ? timestamp_ns{1} : trace.origin();
  auto measured = trace.peaks_measured_at();
  for (auto const& device : trace.devices()) {
    if (measured.contains(raw(device.device))) continue;
    auto const later = later_peaks({.uuid = std::string(trace.text()(device.uuid)),
                                    .driver_version = trace.fact("driver.version"),
                                    .sm_count = device.sm_count,
                                    .max_sm_clock_mhz = device.max_sm_clock_khz / 1000,
                                    .max_memory_clock_mhz = device.max_memory_clock_khz / 1000,
                                    .is_imported = is_imported},
                                   earliest);
    if (!later) continue;
    read.take_peaks(device.device, *later);
    measured[raw(device.device)] = later->measured_at + (is_imported ? "" : ", after the capture");
  }
  return measured;
}

std::vector<exported_line> roofline_of(trace_contents& trace) {
  roofline_reading read(trace, std::nullopt, range_scope::process);
  find_peaks(trace, read);
  read.read(true);
  if (!read.has_counters()) return {};
  roofline const roofs(read.metrics(), read.times(), read.devices(), trace.shapes(), read.codes());
  std::vector<exported_line> lines;
  auto const add = [&](std::string_view kind, roofline_lines by) {
    for (auto& row : lines_of(by, roofs, trace, read.ranges()))
      lines.push_back({kind, std::move(row)});
  };
  add("signature", roofline_lines::signatures);
  add("kernel", roofline_lines::kernels);
  add("range", roofline_lines::ranges);
  add("graph", roofline_lines::graphs);
  return lines;
}

}  // namespace gpuprof
