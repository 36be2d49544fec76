// SPDX-License-Identifier: Apache-2.0
#include "guest/peaks/neighbors.hpp"

#include "base/process.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>
#include <unistd.h>
#include <utility>

namespace gpuprof::guest::peaks {
namespace {

constexpr unsigned busy_percent = 10;
constexpr std::chrono::milliseconds pause{25};
constexpr std::size_t quiet_readings = 5;  // 100 ms
constexpr std::size_t max_readings = 48;   // 1.2 s: NVML averages over one second at most
constexpr std::size_t max_named = 3;

/// Returns the maximum of the last 100 ms.
unsigned recent_percent(std::vector<unsigned> const& gpu_percent) {
  auto const last = static_cast<std::ptrdiff_t>(std::min(gpu_percent.size(), quiet_readings));
  auto const greatest = std::max_element(gpu_percent.end() - last, gpu_percent.end());
  return greatest == gpu_percent.end() ? 0 : *greatest;
}

/// Returns an empty string if the process is not visible, for example because it is outside of this
/// container.
std::string command_of(unsigned pid) {
  std::string name;
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::getline(file, name);
  for (char& c : name) {
    if (static_cast<unsigned char>(c) < ' ') c = '?';  // a process can choose any name
  }
  return name;
}

load_readings read_load(nvml_device const& device) {
  load_readings readings;
  for (auto const& process : device.processes().value_or(std::vector<gpu_process>{})) {
    if (std::cmp_equal(process.pid, getpid()))
      readings.is_own = true;
    else
      readings.others.push_back({process.pid, command_of(process.pid), process.memory_bytes});
  }
  auto& percent = readings.gpu_percent;
  do {
    if (!percent.empty()) std::this_thread::sleep_for(pause);
    percent.push_back(device.utilization().value_or(gpu_utilization{}).gpu);
  } while (percent.size() < quiet_readings ||
           (percent.size() < max_readings && recent_percent(percent) >= busy_percent));
  return readings;
}

std::string description_of(neighbor const& process) {
  std::string text = process.command.empty() ? "one not visible from here" : process.command;
  text += " (pid " + std::to_string(process.pid);
  if (process.memory_bytes != 0) {
    char gib[32];
    std::snprintf(gib, sizeof gib, ", %.1f GiB",
                  static_cast<double>(process.memory_bytes) / (1u << 30));
    text += gib;
  }
  return text + ")";
}

std::string names_of(gpu_load const& load) {
  if (load.others.empty()) {
    return load.is_own ? "this process itself"
                       : "a process that is not visible from here (another container or user)";
  }
  std::string text;
  auto const named = std::min(load.others.size(), max_named);
  for (std::size_t i = 0; i < named; ++i)
    text += (i == 0 ? "" : ", ") + description_of(load.others[i]);
  if (named < load.others.size())
    text += " and " + std::to_string(load.others.size() - named) + " more";
  return text;
}

}  // namespace

std::optional<gpu_load> load_in(load_readings const& readings) {
  auto const percent = recent_percent(readings.gpu_percent);
  if (percent < busy_percent) return std::nullopt;
  return gpu_load{percent, readings.others, readings.is_own && readings.others.empty()};
}

std::string text_of(gpu_load const& load, std::string_view gpu_name) {
  return std::string(gpu_name) + " is " + std::to_string(load.gpu_percent) +
         " % busy before we start, with work of " + names_of(load) +
         ": figures measured now would be too low; wait for it to end, or measure all the same "
         "with "
         "--force";
}

result<std::optional<gpu_load>> who_loads(nvml const& library, std::string const& uuid) {
  auto const device = library.device(uuid);
  if (!device) {
    return error{"NVML does not know " + uuid + ": whether another process loads it is not known"};
  }
  if (!device->utilization()) {
    return error{std::string("NVML tells no load of ") +
                 (device->is_slice() ? "a MIG slice" : "this GPU") +
                 ": whether another process loads it is not known"};
  }
  return load_in(read_load(*device));
}

std::optional<std::string> mps_remark(std::string const& pipe_folder,
                                      std::string const& thread_percentage) {
  std::error_code ignored;
  if (!std::filesystem::exists(pipe_folder + "/control", ignored)) return std::nullopt;
  std::string text = "MPS is on (" + pipe_folder +
                     "): other processes may run on this GPU at the same time, which the spread of "
                     "the figures would show";
  if (!thread_percentage.empty()) {
    text += "; CUDA_MPS_ACTIVE_THREAD_PERCENTAGE leaves us " + thread_percentage + " % of the SMs";
  }
  return text;
}

std::optional<std::string> mig_remark(device_facts const& device) {
  if (!device.uuid.starts_with("MIG-")) return std::nullopt;
  return "this is a MIG slice with " + std::to_string(device.sm_count) +
         " SMs: figures are the slice's, clocks and watts those of the whole chip, and other "
         "slices "
         "may take power and PCIe from it";
}

std::vector<std::string> sharing_remarks(device_facts const& device) {
  std::vector<std::string> remarks;
  auto const pipe_folder = environment("CUDA_MPS_PIPE_DIRECTORY");
  auto mps = mps_remark(pipe_folder.empty() ? "/tmp/nvidia-mps" : pipe_folder,
                        environment("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"));
  if (mps) remarks.push_back(std::move(*mps));
  if (auto mig = mig_remark(device)) remarks.push_back(std::move(*mig));
  return remarks;
}

}  // namespace gpuprof::guest::peaks
