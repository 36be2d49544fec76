// SPDX-License-Identifier: Apache-2.0
#include "guest/peaks/experiments/throughput.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <thread>

namespace gpuprof::guest::peaks {
namespace {

/// The time in which an SM was busy, in its own cycles, and the number of its blocks.
struct sm_stretch {
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max(), last = 0;
  unsigned blocks = 0;
};

}  // namespace

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double spread_of(std::vector<double> const& values) {
  auto const median = median_of(values);
  if (median == 0) return 0;
  auto const [least, greatest] = std::minmax_element(values.begin(), values.end());
  return (*greatest - *least) / median;
}

double seconds_between(std::span<block_span const> starts, std::span<block_span const> ends) {
  if (starts.empty() || ends.empty()) return 0;
  auto first = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t last = 0;
  for (auto const& s : starts) first = std::min(first, s.start_time);
  for (auto const& e : ends) last = std::max(last, e.end_time);
  return last > first ? static_cast<double>(last - first) * 1e-9 : 0;
}

launch_rates rates_of(std::span<block_span const> blocks, double work) {
  launch_rates rates;
  rates.folds_agree =
      !blocks.empty() && std::all_of(blocks.begin(), blocks.end(), [&](block_span const& b) {
        return b.fold == blocks.front().fold;
      });
  std::map<std::uint32_t, sm_stretch> sms;
  std::vector<double> clocks, per_clock;
  for (auto const& b : blocks) {
    if (b.end_clock <= b.start_clock || b.end_time <= b.start_time) return rates;
    auto& sm = sms[b.sm];
    sm.first = std::min(sm.first, b.start_clock);
    sm.last = std::max(sm.last, b.end_clock);
    ++sm.blocks;
    clocks.push_back(static_cast<double>(b.end_clock - b.start_clock) * 1e3 /
                     static_cast<double>(b.end_time - b.start_time));
  }
  rates.seconds = seconds_between(blocks, blocks);
  if (rates.seconds == 0) return rates;
  for (auto const& [number, sm] : sms)
    per_clock.push_back(work * sm.blocks / static_cast<double>(sm.last - sm.first));
  rates.per_clock = median_of(per_clock);
  rates.per_second = work * static_cast<double>(blocks.size()) / rates.seconds;
  rates.sm_clock_mhz = median_of(clocks);
  return rates;
}

namespace {

constexpr double wanted_seconds = 1e-3;
constexpr double enough_to_judge = 1e-4;

void pause_ms(double ms) {
  std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms));
}

std::uint64_t whole(double iterations, std::uint64_t granule) {
  auto const granules = std::max(1.0, std::round(iterations / static_cast<double>(granule)));
  return static_cast<std::uint64_t>(granules) * granule;
}

/// `slot`: launches that are in flight at the same time write to different slots.
kernel_launch launch_of(lab& in, throughput_job const& job, std::uint64_t iterations,
                        unsigned slot) {
  auto launch = job.launch;
  launch.arguments.iterations = iterations;
  auto* const spans = static_cast<block_span*>(in.spans.on_gpu());
  launch.arguments.spans = spans + std::size_t{slot} * launch.blocks;
  if ((slot + 1ull) * launch.blocks * sizeof(block_span) > in.spans.bytes())
    throw no_figure(peak_outcome::failed, "there are more blocks than room for their times");
  return launch;
}

/// True if each block has the result that the job expects.
bool are_as_expected(throughput_job const& job, std::vector<block_span> const& blocks,
                     std::uint64_t iterations) {
  auto const granules = static_cast<std::uint32_t>(iterations / job.granule);
  return std::equal(
      blocks.begin(), blocks.end(), job.folds.begin(), job.folds.end(),
      [&](block_span const& block, std::uint32_t fold) { return block.fold == fold * granules; });
}

launch_rates rates_in(lab& in, throughput_job const& job, std::uint64_t iterations, unsigned slot) {
  auto const blocks = in.bench.copied<block_span>(in.spans, job.launch.blocks,
                                                  std::size_t{slot} * job.launch.blocks);
  auto const rates = rates_of(blocks, job.work * static_cast<double>(iterations));
  if (job.folds.empty() && !rates.folds_agree)
    throw no_figure(peak_outcome::failed,
                    "its result is wrong: blocks that computed the same differ");
  if (!job.folds.empty() && !are_as_expected(job, blocks, iterations))
    throw no_figure(peak_outcome::failed, "its result is wrong: it did not read what was written");
  return rates;
}

launch_rates measured_run(lab& in, throughput_job const& job, std::uint64_t iterations) {
  auto const rates = run_once(in, job, iterations);
  if (rates.seconds == 0) throw no_figure(peak_outcome::failed, "its blocks left no times");
  return rates;
}

std::uint64_t iterations_for(lab& in, throughput_job const& job) {
  auto iterations = job.granule;
  for (int i = 0; i < 40; ++i) {
    auto const rates = run_once(in, job, iterations);
    if (rates.seconds >= enough_to_judge) {
      return whole(static_cast<double>(iterations) * wanted_seconds / rates.seconds, job.granule);
    }
    iterations *= 4;
  }
  throw no_figure(peak_outcome::failed, "it ends at once, however much it is given to do");
}

}  // namespace

launch_rates run_once(lab& in, throughput_job const& job, std::uint64_t iterations) {
  in.bench.launch(launch_of(in, job, iterations, 0));
  in.bench.wait();
  return rates_in(in, job, iterations, 0);
}

throughput_figures measure_throughput(lab& in, throughput_job const& job) {
  throughput_figures figures;
  figures.iterations = iterations_for(in, job);
  std::vector<double> per_clock, per_second;
  for (unsigned i = 0; i < in.samples(); ++i) {
    auto const rates = measured_run(in, job, figures.iterations);
    if (per_second.empty() || rates.per_second > figures.burst.value) {
      figures.burst.value = rates.per_second;
      figures.burst.chip = in.read_chip();
      figures.burst.chip.sm_clock_mhz = rates.sm_clock_mhz;
    }
    if (per_clock.empty() || rates.per_clock > figures.per_clock.value) {
      figures.per_clock.value = rates.per_clock;
      figures.per_clock.chip.sm_clock_mhz = rates.sm_clock_mhz;
    }
    per_clock.push_back(rates.per_clock);
    per_second.push_back(rates.per_second);
    if (job.rests) pause_ms(1);  // power control uses an average over some milliseconds
  }
  figures.burst.spread = spread_of(per_second);
  figures.per_clock.spread = spread_of(per_clock);
  figures.burst.samples = figures.per_clock.samples = in.samples();
  return figures;
}

peak_figure sustain_throughput(lab& in, throughput_job const& job, std::uint64_t iterations_of_1_ms,
                               double seconds) {
  auto const ms_of_launch = std::clamp(seconds * 1e3 / 10, 1.0, 10.0);
  auto const iterations =
      whole(static_cast<double>(iterations_of_1_ms) * ms_of_launch, job.granule);
  auto const launches =
      std::max(6u, static_cast<unsigned>(std::ceil(seconds * 1e3 / ms_of_launch)));
  auto const first = launches * 2 / 3, last = launches - 1;
  for (unsigned i = 0; i < launches; ++i)
    in.bench.launch(launch_of(in, job, iterations, i == first ? 1 : i == last ? 2 : 0));
  pause_ms(seconds * 800);
  peak_figure figure;
  figure.chip = in.read_chip();
  in.bench.wait();
  auto const begin = rates_in(in, job, iterations, 1), end = rates_in(in, job, iterations, 2);
  auto const starts = in.bench.copied<block_span>(in.spans, job.launch.blocks, job.launch.blocks);
  auto const ends =
      in.bench.copied<block_span>(in.spans, job.launch.blocks, std::size_t{2} * job.launch.blocks);
  auto const taken = seconds_between(starts, ends);
  if (taken == 0) throw no_figure(peak_outcome::failed, "its blocks left no times");
  figure.samples = last - first + 1;
  figure.value =
      job.work * static_cast<double>(iterations) * job.launch.blocks * figure.samples / taken;
  figure.spread = spread_of({begin.per_second, end.per_second});
  figure.chip.sm_clock_mhz = end.sm_clock_mhz;
  return figure;
}

peak_figure best_burst(peak_figure const& burst, peak_figure const& sustained) noexcept {
  if (!burst.is_there() || sustained.value <= burst.value) return burst;
  auto best = burst;
  best.value = sustained.value;
  best.chip = sustained.chip;
  return best;
}

}  // namespace gpuprof::guest::peaks
