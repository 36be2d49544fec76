// SPDX-License-Identifier: Apache-2.0
#include "roofline_of_capture.hpp"

#include "base/time.hpp"
#include "guest/peaks/store/store.hpp"
#include "host/report/summary_tables.hpp"
#include "model/peaks.hpp"
#include "progress.hpp"

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace gpuprof::host::command {

using namespace guest;

namespace {

/// Finds peaks of a GPU that were stored after a capture was made.
///
/// Description of a GPU in a capture.
struct captured_gpu {
  std::string uuid, driver_version;
  std::uint32_t sm_count = 0, max_sm_clock_mhz = 0, max_memory_clock_mhz = 0;
  bool is_imported = false;  // imported from another profiler: members above may be missing
};

/// In the format of gpu_peaks::measured_at, whose texts sort by time.
std::string text_of(timestamp_ns moment) {
  auto const seconds = static_cast<std::time_t>(moment.value / 1'000'000'000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

/// The UUIDs are already known to be equal.
bool is_same(peaks_key const& key, captured_gpu const& gpu) {
  auto const agree = [&](auto const& one, auto const& other) {
    auto const is_missing = gpu.is_imported && other == std::decay_t<decltype(other)>{};
    return is_missing || one == other;
  };
  return agree(key.driver_version, gpu.driver_version) && agree(key.sm_count, gpu.sm_count) &&
         agree(key.max_sm_clock_mhz, gpu.max_sm_clock_mhz) &&
         agree(key.max_memory_clock_mhz, gpu.max_memory_clock_mhz);
}

/// Returns the newest peaks stored on this machine for the same GPU and driver, measured after this
/// time. Earlier valid ones would already be in the capture.
std::optional<gpu_peaks> later_peaks(captured_gpu const& gpu, timestamp_ns after) {
  auto const earliest = text_of(after);
  std::optional<gpu_peaks> newest;
  for (auto& stored : peaks::peaks_of_gpu(peaks::store_folder(), gpu.uuid)) {
    if (!is_same(stored.key, gpu) || stored.measured_at < earliest) continue;
    if (!newest || stored.measured_at > newest->measured_at) newest = std::move(stored);
  }
  return newest;
}

}  // namespace

std::vector<roofline_row> lines_of(roofline_lines by, roofline const& roofs, trace_contents& trace,
                                   std::vector<range_work> const& ranges) {
  auto const& labels = trace.labels(kernel_name_style::demangled);
  switch (by) {
    case roofline_lines::kernels:
      return roofs.by_kernel(labels);
    case roofline_lines::kinds:
      return roofs.by_kind(trace.labels(kernel_name_style::kind));
    case roofline_lines::signatures:
      return roofs.by_signature(labels, trace.shapes());
    case roofline_lines::graphs:
      return roofs.by_graph(labels);
    default:
      break;
  }
  return roofs.by_range(ranges, [&](range_key key) { return range_name(key, trace.text()); });
}

moments find_peaks(trace_contents& trace, roofline_reading& read) {
  // An imported capture holds no peaks, so earlier ones are used, too.
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

void read_alone(trace_contents& trace, roofline_reading& read, bool with_ranges) {
  capture_walk walk(trace.file());
  read.join(walk, with_ranges);
  walk.run(progress_of("reading " + trace.file().path(), walk.rows()));
  finish_and_say(trace, read);
}

void finish_and_say(trace_contents& trace, roofline_reading& read) {
  terminal_line line;  // takes longer for more kinds of kernels and more samples
  if (read.has_counters())
    line.show("gpuprof: dividing the counters of " + trace.file().path() + " among kernels");
  read.finish();
}

std::vector<exported_line> roofline_of(trace_contents& trace) {
  roofline_reading read(trace, std::nullopt, range_scope::process);
  find_peaks(trace, read);
  read_alone(trace, read, true);
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

}  // namespace gpuprof::host::command
