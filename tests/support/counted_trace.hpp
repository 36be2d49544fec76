// SPDX-License-Identifier: Apache-2.0
// Small traces with hardware counters: which launches were sampled, in which group, and what they
// had counted.
#pragma once

#include "model/kernel_code.hpp"
#include "support/trace_of.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::test {

inline constexpr char const* clock_metric = "sm__cycles_elapsed.avg.per_second";
inline constexpr char const* occupancy_metric = "sm__warps_active.avg.pct_of_peak_sustained_active";
inline constexpr char const* tensor_cycles_metric = "sm__pipe_tensor_cycles_active.avg";
inline constexpr char const* active_cycles_metric = "sm__cycles_active.avg";
inline constexpr char const* dram_read_metric = "dram__bytes_read.sum";
inline constexpr char const* dram_write_metric = "dram__bytes_write.sum";
inline constexpr char const* l2_metric = "lts__t_bytes.sum";

std::string sass(std::string const& operation);
std::string tensor(std::string const& type);

using counted = std::map<std::string, double>;

struct counted_trace {
  trace t;
  device_record device;
  std::vector<metric_record> metrics;
  std::vector<read_launch_record> samples;
  std::vector<reading_value_record> values;
  std::vector<peak_record> peaks;
  std::vector<kernel_code_record> codes;
  std::string command_line = "./train";
  std::vector<sample_record> rows;  // of samples in time
  std::vector<sampling_window_record> windows;
  timestamp_ns captured_from = trace_start, captured_until = trace_start + 2_ms;
  std::vector<std::pair<std::string, std::uint64_t>> counters;  // "lost.kernels"

  explicit counted_trace(trace of);

  /// The values that are not zero; all others of the group are.
  counted_trace& sample(std::uint32_t correlation, std::uint16_t group, counted const& count,
                        duration_ns before = 5_us, duration_ns after = 5_us);
  counted_trace& plan(std::uint16_t group, std::vector<std::string> const& names);
  /// Sampled every 20 us from 0.9 ms on: `while_it_runs` in the ten samples of each of so many
  /// launches of 200 us, the first at 1 ms, one every 300 us; `at_rest` in the others.
  counted_trace& sample_in_time(std::uint16_t group, char const* metric, std::uint64_t launches,
                                double while_it_runs, double at_rest = 0);
  /// What the set "roofline" reads on a GH100: units, tensor operations, CUDA-core operations.
  counted_trace& plan_roofline();
  /// `per_clock`: on each SM; `burst` and `theory` per second.
  counted_trace& peak(char const* test, double per_clock, double burst, double theory = 0);
  /// 100 SMs at 2 GHz: bf16 800 TFLOP/s, fp32 50, L2 8 TB/s; DRAM 4 TB/s read, 3.6 copied.
  counted_trace& with_peaks();
};

/// A step with kernels of every kind, all of it counted.
///   gemm      3 x 100 us undisturbed (and 3 sampled, one of them 400 us long because it was
///             rewritten): 4e10 bf16 operations, 60 MB read, 20 MB written, 200 MB of L2, 1.6 GHz
///   copy      2 x 50 us undisturbed: 90 MB read, 90 MB written, no FLOP, 2 GHz
///   axpy      2 x 20 us undisturbed: 1e7 FFMA, 1e6 FADD; 40 MB read, 20 MB written, 2 GHz
///   tiny      2 x 2 us undisturbed: 1000 FFMA, 4 kB read, nothing written, 2 GHz
///   unknown   30 us, never sampled
counted_trace counted_step();

}  // namespace gpuprof::test
