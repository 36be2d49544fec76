// SPDX-License-Identifier: Apache-2.0
#include "profile/run_captures.hpp"

#include "base/readable.hpp"
#include "capture/reader.hpp"
#include "model/records.hpp"

#include <cstdio>
#include <filesystem>
#include <system_error>

namespace gpuprof::host::command {
namespace {

/// True if a process opened CUDA and left a whole capture without any work, as the launcher of a
/// job does.
bool is_of_idle_process(std::string const& path) {
  auto const opened = capture::reader::open(path);
  if (!opened || !opened->is_complete()) return false;
  return opened->row_count<kernel_record>() + opened->row_count<graph_record>() +
             opened->row_count<copy_record>() + opened->row_count<memset_record>() +
             opened->row_count<range_begin>() + opened->row_count<mark_record>() +
             opened->row_count<api_record>() ==
         0;
}

}  // namespace

void say(std::string const& line) {
  std::fprintf(stderr, "gpuprof: %s\n", line.c_str());
}

void say_which_have_no_end(std::vector<std::string> const& captures) {
  for (auto const& path : captures) {
    auto const opened = capture::reader::open(path);
    if (opened && opened->is_complete()) continue;
    std::error_code none;
    auto const bytes = std::filesystem::file_size(path, none);
    if (none) continue;  // moved or removed by the program
    say("the end of a capture is missing: its process was killed, or still runs (" +
        readable_bytes(static_cast<double>(bytes)) + "); next: gpuprof stats " + path);
  }
}

std::vector<std::string> without_idle_processes(std::vector<std::string> const& captures,
                                                bool is_quiet) {
  std::vector<std::string> idle, busy;
  for (auto const& path : captures) (is_of_idle_process(path) ? idle : busy).push_back(path);
  std::error_code failed;
  if (!busy.empty())
    for (auto const& path : idle) std::filesystem::remove(path, failed);
  else if (!is_quiet)
    for (auto const& path : idle)
      say("the program did nothing on the GPU while it was recorded: 0 kernels in " + path);
  return busy.empty() ? idle : busy;
}

void say_why_there_is_none(std::vector<std::string> const& reasons) {
  for (auto const& why : reasons)
    if (!why.empty()) say("nothing was recorded: " + why);
  if (reasons.empty())
    say("nothing was recorded: the program used neither CUDA nor NVTX, or libgpuprof.so could "
        "not be loaded into it. gpuprof status says what works here");
}

}  // namespace gpuprof::host::command
