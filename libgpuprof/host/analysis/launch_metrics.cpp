// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/launch_metrics.hpp"

#include "model/ids.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gpuprof::host {

void running_mean::add(double value) noexcept {
  ++count_;
  auto const off = value - mean_;
  mean_ += off / static_cast<double>(count_);
  squares_ += off * (value - mean_);
}

void running_mean::add(running_mean const& other) noexcept {
  if (other.count_ == 0) return;
  auto const mine = static_cast<double>(count_), theirs = static_cast<double>(other.count_);
  auto const off = other.mean_ - mean_;
  count_ += other.count_;
  mean_ += off * theirs / (mine + theirs);
  squares_ += other.squares_ + off * off * mine * theirs / (mine + theirs);
}

double running_mean::deviation() const noexcept {
  return count_ < 2 ? 0 : std::sqrt(squares_ / static_cast<double>(count_ - 1));
}

std::uint32_t launch_metrics::number_of(std::string_view name) {
  auto const next = static_cast<std::uint32_t>(names_.size());
  auto const [at, is_new] = name_index_.try_emplace(std::string(name), next);
  if (is_new) names_.emplace_back(name);
  return at->second;
}

void launch_metrics::plan(device_id device, std::uint32_t name) {
  auto& planned = planned_[device];
  planned.resize(std::max<std::size_t>(planned.size(), name + 1));
  planned[name] = true;
}

void launch_metrics::define(metric_record const& defined, std::string_view name) {
  if (defined.sampled) return;
  auto const number = number_of(name);
  metrics_[raw(defined.metric)] = {number, defined.patches_kernel};
  plan(defined.device, number);
  if (defined.patches_kernel) group_slows_[{defined.device, defined.group}] = true;
}

void launch_metrics::add(read_launch_record const& sample) {
  auto const next = static_cast<std::uint32_t>(launches_.size());
  if (!by_correlation_.try_emplace(raw(sample.correlation), next).second) return;
  read_launch launch;
  launch.record = sample;
  if (group_slows_.contains({sample.device, sample.group})) launch.how = sampling::slowed;
  auto const next_reading = static_cast<std::uint32_t>(readings_.size());
  auto const number = sample.reading;
  launch.reading =
      number == 0 ? next_reading : by_reading_.try_emplace(number, next_reading).first->second;
  if (launch.reading == next_reading) readings_.emplace_back();
  launches_.push_back(launch);
  windows_[sample.device].push_back({sample.opened.value, sample.closed.value, 0, next});
  windows_in_order_ = false;
}

void launch_metrics::add(reading_value_record const& value) {
  values_.push_back(value);
}

void launch_metrics::order_windows() {
  for (auto& [device, windows] : windows_) {
    std::sort(windows.begin(), windows.end(),
              [](placed_window const& a, placed_window const& b) { return a.opened < b.opened; });
    std::uint64_t latest = 0;
    for (auto& window : windows) window.latest_close = latest = std::max(latest, window.closed);
  }
  windows_in_order_ = true;
}

/// Calls f for all windows of the device that overlap the work.
template <class F>
void launch_metrics::each_window(device_id device, timestamp_ns start, duration_ns duration, F f) {
  if (!windows_in_order_) order_windows();
  auto const of_device = windows_.find(device);
  if (of_device == windows_.end()) return;
  auto const& windows = of_device->second;
  auto const end = (start + duration).value;
  auto after = std::upper_bound(
      windows.begin(), windows.end(), end,
      [](std::uint64_t moment, placed_window const& window) { return moment < window.opened; });
  while (after != windows.begin()) {
    --after;
    if (after->latest_close < start.value) return;  // all earlier windows closed before as well
    if (after->closed >= start.value) f(launches_[after->launch]);
  }
}

/// Returns null if the launch of this work was not sampled.
template <class Record>
launch_metrics::read_launch* launch_metrics::launch_of(Record const& work) {
  auto const found = by_correlation_.find(raw(work.correlation));
  if (found == by_correlation_.end()) return nullptr;
  auto& launch = launches_[found->second];
  auto const is_its_own =
      launch.record.device == work.device && are_of_one_call(launch.record.opened, work.start);
  return is_its_own ? &launch : nullptr;
}

/// Readings of a kernel whose geometry is not known are discarded, because they may mix geometries.
void launch_metrics::see(kernel_shape const& shape) {
  if (!shape.has_geometry()) of_any_geometry_.insert(shape.id);
}

void launch_metrics::see(kernel_record const& kernel) {
  if (auto* const launch = launch_of(kernel)) {
    launch->graph = kernel.graph;
    if (++launch->kernels == 1)
      launch->workload = {kernel.device, kernel.shape, {}};
    else  // a graph: the counters cover all of its kernels together
      launch->workload = {kernel.device, {}, kernel.graph}, launch->is_graph = true;
  }
  each_window(kernel.device, kernel.start, kernel.duration, [&](read_launch& launch) {
    if (launch.record.correlation != kernel.correlation) launch.beside_kernels = true;
  });
}

void launch_metrics::see(graph_record const& graph) {
  if (auto* const launch = launch_of(graph)) {
    ++launch->kernels;
    launch->workload = {graph.device, {}, graph.graph};
    launch->is_graph = true;
  }
  each_window(graph.device, graph.start, graph.duration, [&](read_launch& launch) {
    if (launch.record.correlation != graph.correlation) launch.beside_kernels = true;
  });
}

template <class Record>
void launch_metrics::see_copy(Record const& copy) {
  each_window(copy.device, copy.start, copy.duration, [&](read_launch& launch) {
    // Copies and fills of a graph belong to it.
    if (launch.record.correlation == copy.correlation && raw(copy.graph) != 0) {
      launch.has_copies = true;
      return;
    }
    // Copies run no instructions, and a rewritten kernel counts only its instructions.
    if (launch.how != sampling::slowed) launch.beside_copies = true;
  });
}

void launch_metrics::see(copy_record const& copy) {
  see_copy(copy);
}
void launch_metrics::see(memset_record const& fill) {
  see_copy(fill);
}

/// Discards a reading if any of its launches is not usable.
void launch_metrics::judge_readings() {
  std::vector<read_launch const*> first(readings_.size());
  std::vector<discarded_samples> wrong(readings_.size());
  for (auto& launch : launches_) {
    auto& why = wrong[launch.reading];
    // If a graph has one kernel, its counts belong to that kernel, unless the graph also has
    // copies.
    if (launch.has_copies && launch.kernels > 0 && !launch.is_graph) {
      launch.workload = {launch.record.device, {}, launch.graph};
      launch.is_graph = true;
    }
    auto*& before = first[launch.reading];
    // Several kernels without a graph: the correlation id does not belong to a single launch.
    bool const unclear = launch.is_graph && raw(launch.workload.graph) == 0;
    why.without_kernel += launch.kernels == 0;
    why.beside_kernels += launch.beside_kernels || unclear;
    why.beside_copies += launch.beside_copies;
    why.mixed += (before != nullptr && before->workload != launch.workload) ||
                 of_any_geometry_.contains(launch.workload.shape);
    before = &launch;
  }
  for (std::size_t i = 0; i < readings_.size(); ++i) {
    auto& judged = readings_[i];
    judged.workload = first[i]->workload;
    judged.is_valid = wrong[i].all() == 0;
    if (judged.is_valid) {
      ++valid_;
      ++by_workload_[judged.workload].samples;
      if (first[i]->has_copies) graphs_with_copies_.insert(judged.workload);
    } else if (wrong[i].without_kernel > 0) {
      ++discarded_.without_kernel;
    } else if (wrong[i].beside_kernels > 0) {
      ++discarded_.beside_kernels;
    } else if (wrong[i].beside_copies > 0) {
      ++discarded_.beside_copies;
    } else {
      ++discarded_.mixed;
    }
  }
}

void launch_metrics::join() {
  is_joined_ = true;
  judge_readings();
  for (auto const& value : values_) {
    auto const found = by_correlation_.find(raw(value.correlation));
    auto const defined = metrics_.find(raw(value.metric));
    if (found == by_correlation_.end() || defined == metrics_.end()) continue;
    auto const& launch = launches_[found->second];
    auto const& read = readings_[launch.reading];
    if (!read.is_valid || !std::isfinite(value.value)) continue;
    // A rewritten kernel runs at other rates and moves other bytes: only the metrics for which it
    // was rewritten are valid.
    if (launch.how == sampling::slowed && !defined->second.slows) continue;
    auto& series = by_workload_[read.workload].of;
    series.resize(std::max<std::size_t>(series.size(), defined->second.name + 1));
    series[defined->second.name].add(value.value);
  }
  values_ = {};
}

bool launch_metrics::adopt(workload_id const& mine, launch_metrics const& other,
                           workload_id const& theirs, std::uint32_t rank) {
  auto const found = other.by_workload_.find(theirs);
  if (found == other.by_workload_.end()) return false;
  auto const& read = found->second;
  auto own = samples_of(mine) > 0 ? by_workload_.at(mine) : workload_values{};
  bool is_more = false;
  for (std::size_t i = 0; i < read.of.size(); ++i) {
    if (read.of[i].count() == 0) continue;
    auto const number = number_of(other.names_[i]);
    plan(mine.device, number);
    own.of.resize(std::max<std::size_t>(own.of.size(), number + 1));
    if (own.of[number].count() != 0) continue;
    own.of[number] = read.of[i];
    is_more = true;
  }
  if (!is_more) return false;
  own.samples += read.samples;
  own.adopted_from.insert(rank);
  by_workload_[mine] = std::move(own);
  return true;
}

std::set<std::uint32_t> launch_metrics::adopted_from(workload_id const& workload) const {
  auto const values = by_workload_.find(workload);
  return values == by_workload_.end() ? std::set<std::uint32_t>{} : values->second.adopted_from;
}

bool launch_metrics::was_planned(device_id device, std::string_view metric) const {
  auto const name = name_index_.find(metric);
  auto const planned = planned_.find(device);
  return name != name_index_.end() && planned != planned_.end() &&
         name->second < planned->second.size() && planned->second[name->second];
}

running_mean const* launch_metrics::find(workload_id const& workload,
                                         std::string_view metric) const {
  auto const name = name_index_.find(metric);
  auto const values = by_workload_.find(workload);
  if (name == name_index_.end() || values == by_workload_.end()) return nullptr;
  auto const& series = values->second.of;
  if (name->second >= series.size() || series[name->second].count() == 0) return nullptr;
  return &series[name->second];
}

std::uint64_t launch_metrics::samples_of(workload_id const& workload) const {
  auto const values = by_workload_.find(workload);
  return values == by_workload_.end() ? 0 : values->second.samples;
}

}  // namespace gpuprof::host
