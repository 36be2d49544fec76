// SPDX-License-Identifier: Apache-2.0
// Peaks of GPUs that do not exist, with round numbers nobody can take for measured ones.
#pragma once

#include "model/peaks.hpp"

#include <string>

namespace gpuprof::test {

inline peak_figure figure(double value, double spread = 0.01, std::uint64_t limiters = 0) {
  return {value, spread, 10, {1000, 2000, 300, 50, limiters}};
}

inline peak_result measured(std::string test, std::string group, std::string title,
                            std::string unit, double burst, double theory) {
  peak_result r;
  r.test = std::move(test);
  r.group = std::move(group);
  r.title = std::move(title);
  r.unit = std::move(unit);
  r.outcome = peak_outcome::measured;
  r.operands = "random";
  r.burst = figure(burst);
  r.theory = theory;
  return r;
}

inline peak_result with_clock(peak_result r, std::string clock, double per_clock, double theory) {
  r.clock = std::move(clock);
  r.per_clock = figure(per_clock, 0.001);
  r.per_clock_theory = theory;
  return r;
}

inline peak_result with_sustained(peak_result r, peak_figure sustained) {
  r.sustained = sustained;
  return r;
}

inline peak_result without_figure(peak_result r, peak_outcome outcome, std::string remark) {
  r.outcome = outcome;
  r.remark = std::move(remark);
  r.per_clock = r.burst = r.sustained = {};
  return r;
}

inline peaks_key key_of_gpu(int number) {
  peaks_key key;
  key.uuid = "GPU-00000000-0000-0000-0000-00000000000" + std::to_string(number);
  key.driver_version = "100.10.1";
  key.kernels = "0123456789abcdef";
  key.power_limit_w = 500;
  key.max_sm_clock_mhz = 1000;
  key.max_memory_clock_mhz = 2000;
  key.ecc = true;
  key.sm_count = 100;
  key.memory_bytes = 100'000'000'000;
  return key;
}

/// 100 SMs at 1000 MHz, 10 TB/s; `speed` lessens every rate.
inline gpu_peaks pretended_gpu(int number = 1, double speed = 1) {
  gpu_peaks gpu;
  gpu.key = key_of_gpu(number);
  gpu.name = "Pretended GPU";
  gpu.compute_major = 9;
  gpu.pci_bus = "0000:0" + std::to_string(number) + ":00.0";
  gpu.measured_at = "2026-01-01T12:00:00Z";
  gpu.seconds = 2.5;
  gpu.results = {
      with_clock(measured("fp32", "cuda_cores", "FP32 FMA", "FLOP/s", 25e12 * speed, 25.6e12),
                 "SM clock per SM", 255 * speed, 256),
      with_clock(measured("int32", "cuda_cores", "INT32 multiply-add", "op/s", 12e12 * speed, 0),
                 "SM clock per SM", 120 * speed, 0),
      with_sustained(with_clock(measured("tensor_bf16", "tensor_cores", "Tensor BF16", "FLOP/s",
                                         400e12 * speed, 409.6e12),
                                "SM clock per SM", 4050 * speed, 4096),
                     figure(300e12 * speed, 0.02, 0x4)),
      without_figure(measured("tensor_fp8", "tensor_cores", "Tensor FP8 (E4M3)", "FLOP/s", 0, 0),
                     peak_outcome::failed,
                     "its result is wrong in 3 of 256 elements, so its rate means nothing"),
      without_figure(measured("tensor_fp4", "tensor_cores", "Tensor FP4 (NVFP4)", "FLOP/s", 0, 0),
                     peak_outcome::unavailable, "compute capability 9.0 has no such units"),
      with_clock(measured("dram_read", "memory", "DRAM read", "B/s", 9.5e12 * speed, 10e12),
                 "memory clock", 4800 * speed, 5000),
      measured("h2d", "links", "Host to device, pinned", "B/s", 50e9 * speed, 60e9),
      measured("launch_latency", "latency", "Launch: from the call to the kernel's first write",
               "s", 5e-6 / speed, 0),
  };
  gpu.results[1].remark = "one line on what lessens it";
  gpu.results[5].buffer_bytes = 4'000'000'000;
  gpu.results[6].burst.chip = {};
  gpu.results[6].theory_formula = "16 lanes x 32 GT/s";
  gpu.results[7].burst.chip = {};
  gpu.results[7].burst.spread = 0.12;
  return gpu;
}

}  // namespace gpuprof::test
