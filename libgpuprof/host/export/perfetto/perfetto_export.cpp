// SPDX-License-Identifier: Apache-2.0
#include "host/export/export_job.hpp"
#include "host/export/perfetto/counters.hpp"
#include "host/export/perfetto/gpu_work.hpp"
#include "host/export/perfetto/writers.hpp"

namespace gpuprof::host {

result<export_notes> write_perfetto(export_job& job, std::string const& path, bool overwrite) {
  using namespace perfetto;
  auto out = unfinished_file::create(path, overwrite);
  if (!out) return error{out.message()};
  export_notes notes;
  packet_file file(*out, job.trace.origin());
  write_machine_facts(file, job);
  tracks tracks(file, job);
  write_capture_windows(file, job, tracks);
  gpu_work work(file, job, tracks);
  work.write();
  work.add_notes(notes);
  write_api_calls(file, job, tracks, work.ids());
  write_nvtx_ranges(file, job, tracks, notes);
  write_python(file, job, tracks);
  write_critical_path(file, job, tracks);
  write_counter_samples(file, job);
  write_chip_states(file, job, tracks);
  write_allocations(file, job, tracks);
  write_unified_memory(file, job, tracks);
  write_synchronization(file, job, tracks);
  file.finish();
  if (auto const done = out->finish(); !done) return error{done.message()};
  return notes;
}

}  // namespace gpuprof::host
