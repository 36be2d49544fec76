// SPDX-License-Identifier: Apache-2.0
// A GPU of which all is known: what ran when and what it counted, read in intervals.
#pragma once

#include "support/counted_trace.hpp"

#include <algorithm>
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
  simulated_gpu& run(std::string name, double us, work_load load) {
    return run_at(std::move(name), now_us_, us, load);
  }
  /// Beside whatever else runs then.
  simulated_gpu& run_at(std::string name, double start_us, double us, work_load load) {
    done_.push_back({std::move(name), start_us, start_us + us, load, event_kind::kernel, 0});
    now_us_ = std::max(now_us_, start_us + us);
    return *this;
  }
  simulated_gpu& copy_at(double start_us, double us, std::uint64_t bytes, double read) {
    done_.push_back({"", start_us, start_us + us, {read, 0, 0}, event_kind::copy, bytes});
    return *this;
  }
  /// Another program's: it counts and has no record.
  simulated_gpu& run_unseen_at(double start_us, double us, work_load load) {
    done_.push_back({"", start_us, start_us + us, load, event_kind::kernel, 0, true});
    return *this;
  }
  simulated_gpu& wait(double us) {
    now_us_ += us;
    return *this;
  }
  /// Opened and closed on the CPU at these moments; kernels are launched when they start.
  simulated_gpu& range_at(std::string name, double from_us, double to_us) {
    ranges_.push_back(range(std::move(name), length(from_us), length(to_us)));
    return *this;
  }
  double now_us() const { return now_us_; }
  double uniform(double from, double to) {
    return std::uniform_real_distribution<>(from, to)(random_);
  }
  bool toss(double likely) { return uniform(0, 1) < likely; }
  int one_of(int n) { return std::uniform_int_distribution<>(0, n - 1)(random_); }

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
  counted_trace sampled(double interval_us = 20, double from_us = 0, double to_us = 0) {
    vary();
    counted_trace made(trace_of(records()));
    for (auto const* const name : {dram_read_metric, active_cycles_metric, occupancy_metric,
                                   tensor_cycles_metric, clock_metric}) {
      made.plan(0, {name});
      made.metrics.back().sampled = true;
    }
    auto const end = to_us > 0 ? to_us : now_us_ + interval_us;
    read(made, interval_us, from_us, end);
    sampling_window_record window;
    window.start = moment(from_us);
    window.end = moment(end);
    window.interval = {static_cast<std::int64_t>(interval_us * 1000)};
    made.windows.push_back(window);
    made.captured_until = window.end;
    return made;
  }

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

  void vary() {
    if (variation_ == 0) return;
    std::normal_distribution<> off(0, variation_);
    for (auto& e : done_) {
      auto const factor = std::max(0.0, 1 + off(random_));
      e.load.bytes *= factor;
      e.load.tensor_cycles *= factor;
    }
  }

  std::vector<event> records() {
    auto events = ranges_;
    for (auto const& e : done_) {
      if (e.is_unseen) continue;
      auto const off = [&] { return jitter_us_ > 0 ? uniform(-jitter_us_, jitter_us_) : 0; };
      auto const begin = e.start - early_us_ + off(), done = e.end - early_us_ + off();
      duration_ns const start{static_cast<std::int64_t>(std::max(0.0, begin) * 1000)};
      duration_ns const stop{static_cast<std::int64_t>(done * 1000)};
      auto const end = std::max(stop, start + duration_ns{100});
      events.push_back(e.kind == event_kind::copy
                           ? copy(copy_kind::host_to_device, e.bytes, start, end)
                           : kernel(e.name, start, end));
    }
    return events;
  }

  /// Share of the work.
  double done_at(execution const& e, double moment_us) const {
    auto const x = (moment_us - e.start) / (e.end - e.start);
    if (!starts_slowly_) return std::clamp((x - works_from_) / (works_to_ - works_from_), 0., 1.);
    return x < 0.25 ? 0.4 * x : 0.1 + 1.2 * (x - 0.25);
  }

  void read(counted_trace& to, double interval, double from, double end) {
    auto sorted = done_;
    std::sort(sorted.begin(), sorted.end(),
              [](auto const& a, auto const& b) { return a.start < b.start; });
    std::size_t first = 0;
    for (double start = from; start + interval <= end + 1e-9; start += interval) {
      auto const stop = start + interval;
      while (first < sorted.size() && sorted[first].end + 5000 < start) ++first;
      interval_sums sums{idle_rate_ * interval, 0, 0, 0};
      double active_until = start, active = 0;
      for (auto i = first; i < sorted.size() && sorted[i].start < stop; ++i) {
        auto const& e = sorted[i];
        auto const ran = std::min(stop, e.end) - std::max(start, e.start);
        if (ran <= 0) continue;
        auto const share = done_at(e, std::min(stop, e.end)) - done_at(e, std::max(start, e.start));
        sums.bytes += e.load.bytes * share;
        sums.tensor += e.load.tensor_cycles * share;
        if (e.kind == event_kind::copy) continue;
        sums.warps += e.load.occupancy * ran;
        auto const runs_from = std::max({start, e.start, active_until});
        auto const runs_to = std::min(stop, e.end);
        if (runs_to > runs_from) active += runs_to - runs_from;
        active_until = std::max(active_until, runs_to);
      }
      sums.cycles = active * 1e-6 * simulated_clock;
      put(to, start, interval, sums, active);
    }
  }

  void put(counted_trace& to, double start, double interval, interval_sums const& sums,
           double active) {
    double const values[] = {sums.bytes, sums.cycles, active > 0 ? sums.warps / active : 0,
                             sums.tensor, simulated_clock * uniform(0.999, 1.001)};
    for (std::size_t i = 0; i < to.metrics.size(); ++i)
      to.rows.push_back({to.metrics[i].metric, moment(start),
                         moment(start + interval) - moment(start), values[i]});
  }

  std::mt19937_64 random_;
  std::vector<execution> done_;
  std::vector<event> ranges_;
  double now_us_ = 0, jitter_us_ = 0, idle_rate_ = 0, variation_ = 0;
  double works_from_ = 0, works_to_ = 1, early_us_ = 0;
  bool starts_slowly_ = false;
};

/// The figure of the first kernel of this name.
inline std::optional<workload_figure> figure_of(analysed const& a, std::string_view kernel,
                                                std::string_view metric) {
  for (std::size_t i = 0; i < a.from.t.kernels.size(); ++i) {
    auto const& shape = a.from.t.shapes[raw(a.from.t.kernels[i].shape) - 1];
    if (a.from.t.names.text(shape.name) == kernel) return a.figures->find(a.workload_of(i), metric);
  }
  return std::nullopt;
}

}  // namespace gpuprof::test
