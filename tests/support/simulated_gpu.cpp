// SPDX-License-Identifier: Apache-2.0
#include "support/simulated_gpu.hpp"

#include <algorithm>
#include <utility>

namespace gpuprof::test {

simulated_gpu& simulated_gpu::run(std::string name, double us, work_load load) {
  return run_at(std::move(name), now_us_, us, load);
}
simulated_gpu& simulated_gpu::run_at(std::string name, double start_us, double us, work_load load) {
  done_.push_back({std::move(name), start_us, start_us + us, load, event_kind::kernel, 0});
  now_us_ = std::max(now_us_, start_us + us);
  return *this;
}
simulated_gpu& simulated_gpu::copy_at(double start_us, double us, std::uint64_t bytes,
                                      double read) {
  done_.push_back({"", start_us, start_us + us, {read, 0, 0}, event_kind::copy, bytes});
  return *this;
}
simulated_gpu& simulated_gpu::run_unseen_at(double start_us, double us, work_load load) {
  done_.push_back({"", start_us, start_us + us, load, event_kind::kernel, 0, true});
  return *this;
}
simulated_gpu& simulated_gpu::wait(double us) {
  now_us_ += us;
  return *this;
}
simulated_gpu& simulated_gpu::range_at(std::string name, double from_us, double to_us) {
  ranges_.push_back(range(std::move(name), length(from_us), length(to_us)));
  return *this;
}
double simulated_gpu::uniform(double from, double to) {
  return std::uniform_real_distribution<>(from, to)(random_);
}
int simulated_gpu::one_of(int n) {
  return std::uniform_int_distribution<>(0, n - 1)(random_);
}

counted_trace simulated_gpu::sampled(double interval_us, double from_us, double to_us) {
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

void simulated_gpu::vary() {
  if (variation_ == 0) return;
  std::normal_distribution<> off(0, variation_);
  for (auto& e : done_) {
    auto const factor = std::max(0.0, 1 + off(random_));
    e.load.bytes *= factor;
    e.load.tensor_cycles *= factor;
  }
}

std::vector<event> simulated_gpu::records() {
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
double simulated_gpu::done_at(execution const& e, double moment_us) const {
  auto const x = (moment_us - e.start) / (e.end - e.start);
  if (!starts_slowly_) return std::clamp((x - works_from_) / (works_to_ - works_from_), 0., 1.);
  return x < 0.25 ? 0.4 * x : 0.1 + 1.2 * (x - 0.25);
}

void simulated_gpu::read(counted_trace& to, double interval, double from, double end) {
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

void simulated_gpu::put(counted_trace& to, double start, double interval, interval_sums const& sums,
                        double active) {
  double const values[] = {sums.bytes, sums.cycles, active > 0 ? sums.warps / active : 0,
                           sums.tensor, simulated_clock * uniform(0.999, 1.001)};
  for (std::size_t i = 0; i < to.metrics.size(); ++i)
    to.rows.push_back(
        {to.metrics[i].metric, moment(start), moment(start + interval) - moment(start), values[i]});
}

}  // namespace gpuprof::test
