// SPDX-License-Identifier: Apache-2.0
#include "captured_peaks.hpp"

#include "capture/format.hpp"
#include "host/reading/trace_contents.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <span>
#include <utility>

namespace gpuprof::host::command {
namespace {

/// The number of samples is not stored, only whether there is a value.
peak_figure figure_of(double value) {
  peak_figure figure;
  figure.value = value;
  figure.samples = value != 0 ? 1 : 0;
  return figure;
}

peak_result result_of(peak_record const& row, text_of_name const& text) {
  auto const of = [&](name_id name) { return std::string(text(name)); };
  peak_result made;
  made.test = of(row.test);
  made.group = of(row.group);
  made.title = of(row.title);
  made.unit = of(row.unit);
  made.outcome = peak_outcome::measured;
  made.measured_at = of(row.measured_at);
  made.remark = of(row.remark);
  made.method = of(row.method);
  made.operands = of(row.operands);
  made.clock = of(row.clock);
  made.per_clock = figure_of(row.per_clock);
  made.per_clock_theory = row.per_clock_theory;
  made.burst = figure_of(row.burst);
  made.burst.spread = row.burst_spread;
  made.burst.chip.sm_clock_mhz = row.burst_sm_clock_mhz;
  made.burst.chip.limiters = row.limiters;
  made.sustained = figure_of(row.sustained);
  made.sustained.chip.sm_clock_mhz = row.sustained_sm_clock_mhz;
  made.sustained.chip.watts = row.sustained_watts;
  made.theory = row.theory;
  return made;
}

gpu_peaks gpu_of(device_record const& device, trace_contents& trace) {
  auto const of = [&](name_id name) { return std::string(trace.text()(name)); };
  gpu_peaks made;
  made.name = of(device.name);
  made.pci_bus = of(device.pci_bus);
  made.compute_major = static_cast<int>(device.compute_major);
  made.compute_minor = static_cast<int>(device.compute_minor);
  made.key.uuid = of(device.uuid);
  made.key.driver_version = trace.fact("driver.version");
  made.key.sm_count = device.sm_count;
  made.key.max_sm_clock_mhz = device.max_sm_clock_khz / 1000;
  made.key.max_memory_clock_mhz = device.max_memory_clock_khz / 1000;
  return made;
}

/// Most tests were measured at one time, which then is that of the GPU.
void take_time_of(gpu_peaks& gpu) {
  for (auto const& result : gpu.results)
    gpu.measured_at = std::max(gpu.measured_at, result.measured_at);
  for (auto& result : gpu.results)
    if (result.measured_at == gpu.measured_at) result.measured_at.clear();
}

}  // namespace

bool is_capture(std::string const& path) {
  std::array<unsigned char, capture::file_magic.size()> begin{};
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(begin.data()), begin.size());
  return file && begin == capture::file_magic;
}

result<std::vector<gpu_peaks>> captured_peaks(std::string const& path) {
  auto opened = capture::reader::open(path);
  if (!opened) return error{opened.message()};
  trace_contents trace(*std::move(opened));
  std::map<device_id, gpu_peaks> by_device;
  trace.file().for_each<peak_record>([&](std::span<peak_record const> rows) {
    for (auto const& row : rows)
      by_device[row.device].results.push_back(result_of(row, trace.text()));
  });
  std::vector<gpu_peaks> gpus;
  for (auto const& device : trace.devices()) {
    auto const measured = by_device.find(device.device);
    if (measured == by_device.end()) continue;
    auto gpu = gpu_of(device, trace);
    gpu.results = std::move(measured->second.results);
    take_time_of(gpu);
    gpus.push_back(std::move(gpu));
  }
  if (gpus.empty())
    return error{path +
                 " holds no peaks: the GPU had not been measured when it was recorded. Measure it "
                 "with gpuprof peaks; later reports on this machine then use that"};
  return gpus;
}

}  // namespace gpuprof::host::command
