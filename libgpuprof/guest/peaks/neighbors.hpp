// SPDX-License-Identifier: Apache-2.0
// Finds out if another process uses the GPU, before something is measured on it.
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
  std::string command;             // empty if not visible from this process
  std::uint64_t memory_bytes = 0;  // 0: not known
};

/// NVML's readings while this process did not use the GPU.
struct load_readings {
  std::vector<unsigned> gpu_percent;  // one every 25 ms, oldest first
  std::vector<neighbor> others;       // other processes that have opened the GPU
  bool is_own = false;                // this process has also opened it
};

struct gpu_load {
  unsigned gpu_percent = 0;      // maximum of the last readings
  std::vector<neighbor> others;  // processes that may cause it; empty if none is visible from here
  bool is_own = false;           // only this process has opened the GPU
};

/// Returns nothing if the GPU was below 10 % for the last 100 ms. Pure.
std::optional<gpu_load> load_in(load_readings const& readings);

/// Returns one line: the processes, their load, the effect on the figures, and how to measure
/// anyway.
std::string text_of(gpu_load const& load, std::string_view gpu_name);

/// Returns nothing if the GPU is free. Takes 100 ms, or up to 1.2 s if it is busy, because NVML
/// shows the load of an ended process for another second. Returns an error with the reason if the
/// load cannot be read. Call it before this process uses the GPU.
result<std::optional<gpu_load>> who_loads(nvml const& library, std::string const& uuid);

// Remarks about figures of a GPU that is shared on purpose, by MPS or as a MIG slice.

/// Returns nothing if no MPS daemon has its control pipe in this folder. `thread_percentage` is the
/// value of CUDA_MPS_ACTIVE_THREAD_PERCENTAGE, or empty.
std::optional<std::string> mps_remark(std::string const& pipe_folder,
                                      std::string const& thread_percentage);

/// Returns nothing for a whole GPU.
std::optional<std::string> mig_remark(device_facts const& device);

/// Returns both remarks for this process, one line each.
std::vector<std::string> sharing_remarks(device_facts const& device);

}  // namespace gpuprof::guest::peaks
