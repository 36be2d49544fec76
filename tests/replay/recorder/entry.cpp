// SPDX-License-Identifier: Apache-2.0
// libgpuprof_recorder.so: preload it, or name it in CUDA_INJECTION64_PATH, to record a program's
// run.
//
// GPUPROF_RECORD_OUTPUT  file to write (default recording-PID.gprec)
// GPUPROF_RECORD_KINDS   activity kinds (default kernel,memcpy,memset,runtime,driver,sync,memory)
// GPUPROF_RECORD_HOST    what to call the machine instead of its host name
#include "base/log.hpp"
#include "base/process.hpp"
#include "replay/format/recording_file.hpp"
#include "replay/recorder/cupti_recorder.hpp"
#include "replay/recorder/machine_facts.hpp"
#include "replay/recorder/nvtx_recorder.hpp"
#include "replay/recorder/session_log.hpp"

#include <cstdlib>
#include <exception>
#include <mutex>
#include <unistd.h>

#define GPUPROF_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using namespace gpuprof;
using namespace gpuprof::replay;

/// Exclusive, so that processes with one GPUPROF_RECORD_OUTPUT do not overwrite each other.
std::string output_path() {
  auto const wanted = environment("GPUPROF_RECORD_OUTPUT");
  if (wanted.empty()) return "recording-" + std::to_string(getpid()) + ".gprec";
  return access(wanted.c_str(), F_OK) != 0 ? wanted : wanted + "." + std::to_string(getpid());
}

void write_session() noexcept {
  if (is_forked_child()) return;
  try {
    finish_cupti();
    finish_machine_facts();
    auto const r = session_log::get().take();
    auto const path = output_path();
    if (auto const written = write_recording(r, path); !written)
      return log_error(written.message());
    log_info("recorded " + std::to_string(r.events.size()) + " calls and " +
             std::to_string(r.records.count()) + " activity records into " + path);
  } catch (std::exception const& e) {
    log_error(std::string("the session was not written: ") + e.what());
  }
}

void start() {
  session_log::get();
  watch_process_life();
  keep_children_inert();
  if (auto const started = start_cupti(); !started) {
    log_error("nothing is recorded: " + started.message());
    return;
  }
  start_machine_facts();
  std::atexit(write_session);
}

__attribute__((constructor)) void set_injection_paths() {
  auto const self = path_of_object_holding(reinterpret_cast<void const*>(&start));
  if (self.empty()) return;
  setenv("CUDA_INJECTION64_PATH", self.c_str(), 0);
  setenv("NVTX_INJECTION64_PATH", self.c_str(), 0);
}

}  // namespace

GPUPROF_EXPORT int InitializeInjection() {
  static std::once_flag once;
  try {
    std::call_once(once, start);
  } catch (std::exception const& e) {
    log_error(std::string("nothing is recorded: ") + e.what());
  }
  return 1;
}

GPUPROF_EXPORT int InitializeInjectionNvtx2(get_export_table get) {
  return record_nvtx(get);
}
