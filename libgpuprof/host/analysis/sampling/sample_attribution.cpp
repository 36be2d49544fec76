// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sampling/sample_attribution.hpp"

#include "host/analysis/sampling/attribution_steps.hpp"
#include "host/analysis/sampling/device_work.hpp"
#include "host/analysis/sampling/sample_sweep.hpp"
#include "host/analysis/sampling/sampled_figure.hpp"

#include <algorithm>
#include <cmath>

namespace gpuprof::host {
namespace {

/// A time-weighted mean and the spread of the values.
struct weighted_values {
  std::uint64_t count = 0;
  double weight = 0, sum = 0, squares = 0;
  void add(double value, double ns) noexcept {
    ++count;
    weight += ns;
    auto const off = value - (weight > ns ? sum / (weight - ns) : value);
    sum += value * ns;
    squares += ns * off * (value - sum / weight);
  }
  double mean() const noexcept { return sum / weight; }
  double deviation() const noexcept { return std::sqrt(std::max(0.0, squares / weight)); }
};

/// The mean of a clock over all samples of one kind of work, and its standard error.
///
/// Clocks change slower than samples come, so samples that follow each other tell the same once
/// more. Samples with a pause between them are independent: the error comes from the means of the
/// stretches without a pause. With only one of these it is the spread of its samples.
class clock_mean {
 public:
  void add(double value, double ns, std::uint64_t start) noexcept {
    constexpr std::uint64_t pause_ns = 1'000'000;
    if (start > last_start_ + pause_ns) end_stretch();
    last_start_ = start;
    stretch_.add(value, ns);
    all_.add(value, ns);
  }
  /// Call after the last value.
  void finish() noexcept { end_stretch(); }
  std::uint64_t count() const noexcept { return all_.count; }
  double mean() const noexcept { return all_.mean(); }
  double error() const noexcept {
    if (stretches_ < 2) return all_.deviation();
    // The variance of a weighted mean: squares of weights, for stretches differ in length.
    double const n = static_cast<double>(stretches_), m = mean();
    auto const squares = squares_ - 2 * m * mixed_ + m * m * weights_;
    return std::sqrt(std::max(0.0, squares) * n / (n - 1)) / all_.weight;
  }

 private:
  void end_stretch() noexcept {
    if (stretch_.count == 0) return;
    ++stretches_;
    auto const w = stretch_.weight, m = stretch_.mean();
    weights_ += w * w;
    mixed_ += w * w * m;
    squares_ += w * w * m * m;
    stretch_ = {};
  }

  weighted_values all_, stretch_;
  std::uint64_t last_start_ = 0, stretches_ = 0;
  double weights_ = 0, mixed_ = 0, squares_ = 0;  // sums of w^2, w^2 m, w^2 m^2
};

/// Sets the clock figures of each kind of work.
///
/// Clocks run with or without work, so the figure is their mean over the time that the work ran.
void average_clocks(sample_series const& samples, device_work const& work, figure_grid& figures) {
  std::vector<std::uint32_t> columns;
  for (std::uint32_t c = 0; c < samples.columns(); ++c)
    if (samples.adds_up(c) && samples.metric(c).runs_when_idle) columns.push_back(c);
  auto const kinds = work.kinds();
  std::vector<std::vector<clock_mean>> values(columns.size(),
                                              std::vector<clock_mean>(kinds.size()));
  sweep_samples(samples, work, [&](std::size_t s, std::span<work_part const> parts, double) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      auto const rate = samples.amount(s, columns[i]) / samples.intervals()[s].ns();
      if (std::isnan(rate)) continue;
      for (auto const& part : parts)
        if (part.ns > 0)
          values[i][part.item->kind].add(rate, part.ns, samples.intervals()[s].start);
    }
  });
  for (std::size_t i = 0; i < columns.size(); ++i)
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      auto& of_kind = values[i][kind];
      of_kind.finish();
      if (of_kind.count() < 2) continue;
      bool const is_amount = samples.metric(columns[i]).how == summing::amount;
      auto const scale = is_amount ? kinds[kind].mean_ns() : 1;
      auto const error = of_kind.error() * scale;
      figures[kind][columns[i]] =
          sampled_figure{of_kind.mean() * scale, error, kinds[kind].times, false, error};
    }
}

/// 128 MiB of values plus their intervals: a minute of ten metrics every 20 us.
constexpr std::uint64_t max_values = std::uint64_t{1} << 25;
/// Much more than a GPU can count at once. Further metrics are ignored.
constexpr std::size_t max_metrics = 256;

}  // namespace

sample_attribution::device& sample_attribution::device_of(device_id id) {
  auto& made = devices_[id];
  if (!made) made = std::make_unique<device>();
  return *made;
}

void sample_attribution::define(metric_record const& metric, std::string_view name) {
  if (!metric.sampled) return;
  auto const name_place = figures_.define(name);
  auto& of = device_of(metric.device);
  // Metrics may be defined again when sampling restarts.
  for (std::uint32_t column = 0; column < of.names.size(); ++column)
    if (of.names[column] == name_place) {
      places_[metric.metric] = {&of, column};
      return;
    }
  if (of.names.size() == max_metrics) return;
  places_[metric.metric] = {&of, of.samples.define(name)};
  of.names.push_back(name_place);
}

void sample_attribution::add(sampling_window_record const& window) {
  ++facts_.windows;
  facts_.overflows += window.overflows;
}

void sample_attribution::add(sample_record const& sample) {
  auto const found = places_.find(sample.metric);
  if (found == places_.end()) return;
  auto& series = found->second.of->samples;
  auto const before = series.places();
  auto const room = max_values - (places_taken_ - before);
  bool const is_taken =
      series.add(found->second.column, sample.start, sample.duration, sample.value, room);
  facts_.not_taken += !is_taken;
  places_taken_ += series.places() - before;
}

void sample_attribution::end_samples() {
  for (auto& [id, of] : devices_) {
    of->samples.finish();
    of->recorded = recorded_;
    facts_.intervals += of->samples.size();
  }
}

/// Where work has the times of another launch, it is not known when it ran.
void sample_attribution::note_unsure(device& of, timestamp_ns start, duration_ns duration) {
  auto const intervals = of.samples.intervals();
  auto const end = (start + duration).value;
  auto const ends_before = [](sample_interval const& i, std::uint64_t t) { return i.end <= t; };
  auto at = std::lower_bound(intervals.begin(), intervals.end(), start.value, ends_before);
  for (; at != intervals.end() && at->start < end; ++at) {
    of.is_unsure.resize(intervals.size());
    of.is_unsure[static_cast<std::size_t>(at - intervals.begin())] = true;
  }
}

void sample_attribution::see(copy_record const& copy) {
  auto const found = devices_.find(copy.device);
  if (found == devices_.end()) return;
  see_times(*found->second, copy);
  found->second->work.add_copy(copy);
}

void sample_attribution::see(memset_record const& fill) {
  auto const found = devices_.find(fill.device);
  if (found == devices_.end()) return;
  see_times(*found->second, fill);
  found->second->work.add_fill(fill);
}

void sample_attribution::attribute(std::set<shape_id> const& without_tensor) {
  for (auto& [id, of] : devices_) attribute(id, *of, without_tensor);
  devices_.clear();  // only the figures are needed from here on
  places_.clear();
}

namespace {

figure_grid grid_for(device_work const& work, sample_series const& samples) {
  figure_grid figures(work.kinds().size());
  for (auto& row : figures) row.resize(samples.columns());
  return figures;
}

std::vector<bool> kinds_without_tensor(device_work const& work,
                                       std::set<shape_id> const& without_tensor) {
  std::vector<bool> is_without;
  for (auto const& kind : work.kinds())
    is_without.push_back(kind.is != work_kind::what::launch ||
                         without_tensor.contains(kind.workload.shape));
  return is_without;
}

}  // namespace

void sample_attribution::attribute(device_id id, device& of,
                                   std::set<shape_id> const& without_tensor) {
  std::size_t i = 0;
  facts_.not_recorded += of.samples.keep([&](sample_interval const& interval) {
    auto const is_unsure = !of.is_unsure.empty() && of.is_unsure[i];
    ++i;
    return !is_unsure && of.recorded.holds(interval);
  });
  of.work.finish();
  auto const kinds = of.work.kinds();
  facts_.unseen = std::max(facts_.unseen, unseen_activity(of.samples, of.work).value_or(0));
  found_figures found{
      grid_for(of.work, of.samples), {}, pooled_work(of.work, pools_, of.pooled_launches)};
  auto& figures = found.figures;
  std::vector<std::uint32_t> columns, tensor_columns;
  for (std::uint32_t c = 0; c < of.samples.columns(); ++c) {
    auto const& metric = of.samples.metric(c);
    if (!of.samples.adds_up(c) || metric.runs_when_idle) continue;
    (metric.of_tensor_cores && metric.how == summing::amount ? tensor_columns : columns)
        .push_back(c);
  }
  attribute_by_overlap(of.samples, of.work, columns, figures);
  average_clocks(of.samples, of.work, figures);
  auto const is_without_tensor = kinds_without_tensor(of.work, without_tensor);
  auto const without =
      tell_apart(of.samples, of.work, columns, figures, max_unknowns_, is_without_tensor);
  attribute_lone_samples(of.samples, of.work, columns, figures);
  if (!found.pools.empty()) {
    auto const& pooled = found.pools.work();
    found.pooled = grid_for(pooled, of.samples);
    attribute_by_overlap(of.samples, pooled, columns, found.pooled);
    tell_apart(of.samples, pooled, columns, found.pooled, max_unknowns_,
               kinds_without_tensor(pooled, without_tensor));
    attribute_lone_samples(of.samples, pooled, columns, found.pooled);
  }
  if (!tensor_columns.empty()) attribute_tensor(of, without_tensor, tensor_columns, found);
  set_what_is_known(of, is_without_tensor, figures);
  keep(of, found, without);
  if (!found.pools.empty()) keep_shapes_without_samples(id, of, found, without_tensor);
}

/// Attributes counters of the tensor cores to the work that has tensor instructions. Other work
/// counts as idle time, so that its neighbors share no samples with it.
void sample_attribution::attribute_tensor(device& of, std::set<shape_id> const& without_tensor,
                                          std::span<std::uint32_t const> columns,
                                          found_figures& found) const {
  auto const with_tensor = [](device_work const& work, std::vector<bool> has) {
    has.flip();
    return work.only(has);
  };
  auto const is_without = kinds_without_tensor(of.work, without_tensor);
  auto const work = with_tensor(of.work, is_without);
  auto const doubts = subtract_work_without_tensor(of.samples, of.work, work, is_without, columns);
  auto const divide = [&](device_work const& among, std::vector<bool> const& without,
                          figure_grid& figures) {
    attribute_by_overlap(of.samples, among, columns, figures);
    tell_apart(of.samples, among, columns, figures, max_unknowns_, without);
    attribute_lone_samples(of.samples, among, columns, figures);
    add_doubts(of.samples, among, columns, doubts, figures);
    attribute_whole_launches(of.samples, among, columns, doubts, figures);
  };
  divide(work, is_without, found.figures);
  if (found.pools.empty()) return;
  auto const& pooled = found.pools.work();
  auto const pool_is_without = kinds_without_tensor(pooled, without_tensor);
  divide(with_tensor(pooled, pool_is_without), pool_is_without, found.pooled);
}

/// Sets tensor-core figures to 0 for kernels without tensor instructions, whatever the samples say.
void sample_attribution::set_what_is_known(device const& of,
                                           std::vector<bool> const& is_without_tensor,
                                           figure_grid& figures) {
  auto const kinds = of.work.kinds();
  for (std::uint32_t column = 0; column < of.samples.columns(); ++column) {
    if (!of.samples.metric(column).of_tensor_cores) continue;
    for (std::size_t kind = 0; kind < kinds.size(); ++kind)
      if (is_without_tensor[kind] && kinds[kind].begun > 0)
        figures[kind][column] = sampled_figure{0, 0, kinds[kind].times, false, 0};
  }
}

/// Stores the figures; kinds that differ only in length are one workload.
void sample_attribution::keep(device const& of, found_figures const& found,
                              std::vector<no_figure> const& without) {
  auto const kinds = of.work.kinds();
  auto const& figures = found.figures;
  std::map<workload_id, std::vector<std::size_t>> classes;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind)
    if (kinds[kind].is == work_kind::what::launch && kinds[kind].times > 0)
      classes[kinds[kind].workload].push_back(kind);
  std::vector<class_figure> parts;
  for (auto const& [workload, of_workload] : classes) {
    auto& known = figures_.make(workload);
    auto reason = no_figure::has_one;
    for (auto const kind : of_workload) {
      known.ns += kinds[kind].ns;
      known.shared_ns += kinds[kind].shared_ns;
      reason = std::max(reason, without[kind]);
    }
    bool has_any = false;
    for (std::uint32_t column = 0; column < of.names.size(); ++column) {
      parts.clear();
      for (auto const kind : of_workload)
        parts.push_back({kinds[kind].begun, kinds[kind].ns, figures[kind][column]});
      auto const& metric = of.samples.metric(column);
      auto figure = put_together(parts, metric.how);
      if (!found.pools.empty() && !metric.runs_when_idle)
        if (auto const pooled =
                found.pools.figure(workload.shape, found.pooled, column, metric.how);
            pooled && (!figure || pooled->error < figure->error / 2))
          figure = pooled;
      has_any = has_any || (figure && !metric.runs_when_idle && !metric.of_tensor_cores);
      known.by_name[of.names[column]] = figure;
    }
    if (has_any) continue;
    facts_.too_few += reason == no_figure::too_few;
    facts_.too_many += reason == no_figure::too_many;
    facts_.not_told_apart += reason == no_figure::not_told_apart;
  }
}

/// Shapes of pools that only ran outside of the samples.
void sample_attribution::keep_shapes_without_samples(device_id id, device const& of,
                                                     found_figures const& found,
                                                     std::set<shape_id> const& without_tensor) {
  std::set<shape_id> sampled;
  for (auto const& kind : of.work.kinds())
    if (kind.times > 0) sampled.insert(kind.workload.shape);
  for (auto const& [shape, all] : of.pooled_launches) {
    if (sampled.contains(shape)) continue;
    auto& known = figures_.make({id, shape, {}});
    for (std::uint32_t column = 0; column < of.names.size(); ++column) {
      auto const& metric = of.samples.metric(column);
      if (metric.runs_when_idle) continue;
      auto& figure = known.by_name[of.names[column]];
      figure = found.pools.figure(shape, found.pooled, column, metric.how);
      if (metric.of_tensor_cores && without_tensor.contains(shape))
        figure = sampled_figure{0, 0, all.times, false, 0};
    }
  }
}

}  // namespace gpuprof::host
