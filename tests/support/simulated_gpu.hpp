// SPDX-License-Identifier: Apache-2.0
// A GPU of which all is known: what ran when and what it counted, read in intervals.
#pragma once

#include "support/analyzed.hpp"

#include <random>
#include <string>
#include <vector>

namespace gpuprof::test {

/// What a launch counts, evenly over its time.
struct work_load {
  double bytes = 0;      // read from DRAM
  double occupancy = 0;  // per cent, in active cycles
  double tensor_cycles = 0;
};

inline constexpr double simulated_clock = 1.5e9;  // Hz; each SM is active while anything runs

class simulated_gpu {
 public:
  explicit simulated_gpu(unsigned seed = 1) : random_(seed) {}

  /// Runs when the work before has ended.
  simulated_gpu& run(std::string name, double us, work_load load);
  /// Beside whatever else runs then.
  simulated_gpu& run_at(std::string name, double start_us, double us, work_load load);
  simulated_gpu& copy_at(double start_us, double us, std::uint64_t bytes, double read);
  /// Another program's: it counts and has no record.
  simulated_gpu& run_unseen_at(double start_us, double us, work_load load);
  simulated_gpu& wait(double us);
  /// Opened and closed on the CPU at these moments; kernels are launched when they start.
  simulated_gpu& range_at(std::string name, double from_us, double to_us);
  double now_us() const { return now_us_; }
  double uniform(double from, double to);
  bool toss(double likely) { return uniform(0, 1) < likely; }
  int one_of(int n);

  /// Times in records are off by up to this.
  simulated_gpu& with_jitter(double us) {
    jitter_us_ = us;
    return *this;
  }
  /// Bytes per us that are read without anybody asking.
  simulated_gpu& with_idle_rate(double bytes) {
    idle_rate_ = bytes;
    return *this;
  }
  /// Launches count so much more or less than others of their kind: a share, one deviation.
  simulated_gpu& with_variation(double share) {
    variation_ = share;
    return *this;
  }

  /// Kernels work at less than half their rate in their first quarter.
  simulated_gpu& starting_slowly() {
    starts_slowly_ = true;
    return *this;
  }

  /// Kernels do all their work in this part of their time.
  simulated_gpu& working_only(double from_share, double to_share) {
    works_from_ = from_share;
    works_to_ = to_share;
    return *this;
  }
  /// Records begin, and end, so long before the work does.
  simulated_gpu& with_early_records(double us) {
    early_us_ = us;
    return *this;
  }

  /// Samples from `from_us` to `to_us`; 0: to the end of all work.
  counted_trace sampled(double interval_us = 20, double from_us = 0, double to_us = 0);

 private:
  struct execution {
    std::string name;
    double start = 0, end = 0;  // us
    work_load load;
    event_kind kind{};
    std::uint64_t bytes = 0;
    bool is_unseen = false;
  };
  struct interval_sums {
    double bytes = 0, cycles = 0, warps = 0, tensor = 0;
  };

  static duration_ns length(double us) { return {static_cast<std::int64_t>(us * 1000)}; }
  static timestamp_ns moment(double us) { return trace_start + length(us); }

  void vary();
  std::vector<event> records();
  double done_at(execution const& e, double moment_us) const;
  void read(counted_trace& to, double interval, double from, double end);
  void put(counted_trace& to, double start, double interval, interval_sums const& sums,
           double active);

  std::mt19937_64 random_;
  std::vector<execution> done_;
  std::vector<event> ranges_;
  double now_us_ = 0, jitter_us_ = 0, idle_rate_ = 0, variation_ = 0;
  double works_from_ = 0, works_to_ = 1, early_us_ = 0;
  bool starts_slowly_ = false;
};

}  // namespace gpuprof::test
