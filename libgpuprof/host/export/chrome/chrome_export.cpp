// SPDX-License-Identifier: Apache-2.0
#include "base/readable.hpp"
#include "host/analysis/samples.hpp"
#include "host/export/chrome/gpu_events.hpp"
#include "host/export/chrome/writers.hpp"
#include "host/export/export_job.hpp"

#include <algorithm>

namespace gpuprof::host {
namespace {

using namespace chrome;

// Viewers of this format load the whole file into memory.
constexpr std::uint64_t comfortable_events = 2'000'000;
/// Writes the capture windows of the file. Readers look for torch.profiler's own span by its name
/// and expect one, so only the first window has that name.
void write_windows(trace_contents& trace, event_writer& to) {
  bool is_first = true;
  for (auto const& window : trace.windows()) {
    auto const end = window.end.value != 0 ? window.end : trace.last_moment();
    auto const name = is_first ? std::string("gpuprof capture (as PyTorch Profiler)")
                               : "gpuprof capture " + std::to_string(window.index);
    is_first = false;
    to.span(name, window.start, nanoseconds(end - window.start), trace.text()(window.trigger));
  }
}

void write_rows(export_job& job, event_writer& to, cpu_rows const& cpu, gpu_rows const& gpu) {
  cpu.write_names(to);
  std::map<std::uint64_t, std::string> devices;
  for (auto const& device : job.trace.devices())
    devices[raw(device.device)] = job.names.text(device.name);
  for (auto const& row : gpu.rows()) devices.try_emplace(row.at.process);
  for (auto const& [device, name] : devices) {
    auto const label = "GPU " + std::to_string(device);
    to.process(device, label + (name.empty() ? "" : ": " + name), label, 5'000'000 + device);
  }
  for (auto const& row : gpu.rows()) to.thread(row.at, row.name, row.sort_index);
}

export_notes notes_on(event_writer const& events, gpu_events const& gpu, captured_calls calls) {
  export_notes notes;
  auto const made = counted(gpu.calls_made(), "launches");
  if (gpu.calls_made() != 0 && calls == captured_calls::all)
    notes.push_back(made +
                    " have no call in the capture: one of 1 us was made for each, with "
                    "\"made by gpuprof\" in its arguments");
  if (gpu.calls_made() != 0 && calls != captured_calls::all)
    notes.push_back("the capture holds no CUDA calls of launches: " + made +
                    " of 1 us were made of what is known of kernels, with \"made by gpuprof\" in "
                    "their arguments; for launch statistics and critical paths record with --trace "
                    "cuda,nvtx,sync,cuda-api");
  if (gpu.lacks_annotations())
    notes.emplace_back(
        "more than a million ranges: they are on the rows of threads, not on those of "
        "GPUs");
  if (events.events() > comfortable_events)
    notes.push_back(readable_count(events.events()) +
                    " events are more than viewers of this format open with ease; look at the "
                    "perfetto export instead");
  return notes;
}

}  // namespace

result<export_notes> write_chrome(export_job& job, std::string const& path, bool overwrite) {
  auto file = unfinished_file::create(path, overwrite);
  if (!file) return error{file.message()};
  text_output text(*file, !path.ends_with(".json"));
  auto const base = first_moment(job.trace);
  write_header(job, text.text(), base);
  event_writer events(text, base);
  quoted_names names(job.names);
  cpu_rows cpu(job.trace);
  gpu_rows rows;
  events.process(cpu.process(), job.trace.fact("process.program"), "CPU", 0);
  write_windows(job.trace, events);
  write_python(job, events, cpu);
  gpu_events gpu(job, events, names, cpu, rows);
  gpu.write();
  write_threads(job, events, names, cpu);
  write_samples(job, events);
  write_chip_states(job, events);
  write_memory(job, events);
  write_rows(job, events, cpu, rows);
  write_footer(job, text.text());
  text.finish();
  if (auto const done = file->finish(); !done) return error{done.message()};
  return notes_on(events, gpu, job.trace.calls());
}

}  // namespace gpuprof::host
