// SPDX-License-Identifier: Apache-2.0
// Says whether anyone else uses the GPU, before something is measured on it.
#pragma once

#include "base/result.hpp"
#include "guest/driver/device_facts.hpp"
#include "guest/driver/nvml.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::guest::peaks {

struct neighbor {
  unsigned pid = 0;
  std::string command;             // empty: not visible from here
  std::uint64_t memory_bytes = 0;  // 0: not known
};

/// What NVML told while we left the GPU alone.
struct load_readings {
  std::vector<unsigned> gpu_percent;  // one every 25 ms, the oldest first
  std::vector<neighbor> others;       // processes that have the GPU open, without this one
  bool is_own = false;                // this process has it open too
};

struct gpu_load {
  unsigned gpu_percent = 0;      // the greatest of the last readings
  std::vector<neighbor> others;  // whose it may be; empty: nobody who is visible from here
  bool is_own = false;           // this process alone has the GPU open
};

/// Empty when the GPU was below 10 % for the last 100 ms. Pure.
std::optional<gpu_load> load_in(load_readings const& readings);

/// One line: who, how much, what it would do to the figures, how to measure all the same.
std::string text_of(gpu_load const& load, std::string_view gpu_name);

/// Empty when the GPU is free. Takes 100 ms; up to 1.2 s when it is not, because NVML goes on for a
/// second to show the load of a process that has ended. An error: nobody can tell, and why. Call it
/// before any work of our own.
result<std::optional<gpu_load>> who_loads(nvml const& library, std::string const& uuid);

// What to know about figures of a GPU that is shared on purpose, through MPS or as a MIG slice.

/// Empty when no MPS daemon has its control pipe in this folder. `thread_percentage` is what
/// CUDA_MPS_ACTIVE_THREAD_PERCENTAGE says, or empty.
std::optional<std::string> mps_remark(std::string const& pipe_folder,
                                      std::string const& thread_percentage);

/// Empty for a whole GPU.
std::optional<std::string> mig_remark(device_facts const& device);

/// Both, for this process: one line each.
std::vector<std::string> sharing_remarks(device_facts const& device);

}  // namespace gpuprof::guest::peaks
