// SPDX-License-Identifier: Apache-2.0
#include "guest/live/recent_samples.hpp"

#include "host/analysis/sampling/sample_attribution.hpp"

#include <algorithm>
#include <utility>

namespace gpuprof::guest {

using namespace host;  // the arithmetic of reports

namespace {

template <class Record>
Record filled_in(sampled_work const& work, device_id device) {
  Record record;
  record.device = device;
  record.start = work.start;
  record.duration = work.duration;
  return record;
}

void show(sampled_work const& work, device_id device, sample_attribution& to) {
  auto const bytes = static_cast<std::uint64_t>(work.bytes);
  if (work.is == sampled_work::kind::copy) {
    auto copy = filled_in<copy_record>(work, device);
    copy.kind = work.direction;
    copy.bytes = bytes;
    return to.see(copy);
  }
  if (work.is == sampled_work::kind::fill) {
    auto fill = filled_in<memset_record>(work, device);
    fill.bytes = bytes;
    return to.see(fill);
  }
  auto launch = filled_in<kernel_record>(work, device);
  launch.correlation = work.correlation;
  workload_id workload{device, {}, {}};
  if (work.is == sampled_work::kind::graph)
    workload.graph = static_cast<graph_id>(work.workload);
  else
    workload.shape = static_cast<shape_id>(work.workload);
  to.see(launch, workload);
}

}  // namespace

sampled_figures sampled_window::divide() const {
  sample_attribution division(max_unknowns);
  for (auto const& capture : captures) division.add_capture(capture.start, capture.end);
  for (auto const& metric : metrics) division.define(metric.record, metric.name);
  division.add(window);
  for (auto const& sample : samples) division.add(sample);
  division.end_samples();
  for (auto const& piece : work) show(piece, window.device, division);
  division.attribute();
  return division.figures();
}

namespace {

constexpr std::size_t max_sampled_metrics = 4096;
constexpr std::size_t max_captures = 64;
constexpr timestamp_ns still_open{~std::uint64_t{0}};

bool is_in(sampling_window_record const& window, sample_record const& sample) {
  return sample.start >= window.start && sample.start < window.end;
}

}  // namespace

recent_samples::sampled_gpu* recent_samples::find(device_id device) noexcept {
  auto const found = std::find_if(gpus_.begin(), gpus_.end(),
                                  [device](sampled_gpu const& gpu) { return gpu.id == device; });
  return found == gpus_.end() ? nullptr : &*found;
}

void recent_samples::define(metric_record const& metric, std::string_view name) {
  if (!metric.sampled || defined_.size() == max_sampled_metrics || room_ == 0) return;
  if (find(metric.device) == nullptr) gpus_.emplace_back().id = metric.device;
  gpu_of_metric_[raw(metric.metric)] = static_cast<std::size_t>(find(metric.device) - gpus_.data());
  defined_.push_back({metric, std::string(name)});
}

void recent_samples::open_capture(timestamp_ns start) {
  if (captures_.size() == max_captures) captures_.erase(captures_.begin());
  captures_.push_back({start, still_open});
}

void recent_samples::close_capture(timestamp_ns end) {
  if (!captures_.empty()) captures_.back().end = end;
}

void recent_samples::add(std::span<sampling_window_record const> windows,
                         std::span<sample_record const> samples) {
  if (has_given_up_) return;
  for (auto const& window : windows) take(window, samples);
  keep_open(samples);
}

void recent_samples::take(sampling_window_record const& window,
                          std::span<sample_record const> samples) {
  auto* const gpu = find(window.device);
  if (gpu == nullptr) return;
  gpu->last_end = std::max(gpu->last_end, window.end);
  // If flushes are far apart, windows before a flush can wait until their work has been dropped.
  if (gpu->is_waiting && is_gone(gpu->window))
    passed_over_ += std::exchange(gpu->is_waiting, false);
  if (gpu->is_waiting || window.start < gpu->earliest_next || is_gone(window)) {
    ++passed_over_;
    return;
  }
  auto const place = static_cast<std::size_t>(gpu - gpus_.data());
  auto const take_those_of = [&](std::span<sample_record const> from) {
    for (auto const& sample : from) {
      if (gpu->samples.size() == limits_.values) return;
      if (!is_in(window, sample)) continue;
      auto const of = gpu_of_metric_.find(raw(sample.metric));
      if (of != gpu_of_metric_.end() && of->second == place) gpu->samples.push_back(sample);
    }
  };
  gpu->samples.clear();
  take_those_of(open_);
  take_those_of(samples);
  gpu->window = window;
  gpu->is_waiting = true;
}

/// Keeps samples of windows that have not ended: samples arrive before their window.
void recent_samples::keep_open(std::span<sample_record const> samples) {
  auto const is_open = [this](sample_record const& sample) {
    auto const of = gpu_of_metric_.find(raw(sample.metric));
    return of != gpu_of_metric_.end() && sample.start >= gpus_[of->second].last_end;
  };
  std::erase_if(open_, [&](sample_record const& sample) { return !is_open(sample); });
  for (auto const& sample : samples)
    if (open_.size() < limits_.values && is_open(sample)) open_.push_back(sample);
}

void recent_samples::lose_records() {
  for (auto& gpu : gpus_) passed_over_ += std::exchange(gpu.is_waiting, false);
  open_.clear();
}

void recent_samples::give_up() {
  lose_records();
  has_given_up_ = true;
  room_ = 0;
  work_ = {};
}

std::optional<sampled_window> recent_samples::take_complete(timestamp_ns complete_until) {
  sampled_gpu* next = nullptr;
  for (auto& gpu : gpus_) {
    if (!gpu.is_waiting || gpu.window.end > complete_until) continue;
    if (is_gone(gpu.window)) {
      gpu.is_waiting = false;
      ++passed_over_;
    } else if (next == nullptr || gpu.earliest_next < next->earliest_next) {
      next = &gpu;
    }
  }
  if (next == nullptr) return std::nullopt;
  return take(*next);
}

sampled_window recent_samples::take(sampled_gpu& gpu) {
  auto const gpus = static_cast<std::int64_t>(gpus_.size());
  gpu.earliest_next = gpu.window.start + duration_ns{limits_.pause.value * gpus};
  gpu.is_waiting = false;
  ++taken_;
  sampled_window made;
  made.window = gpu.window;
  made.samples = std::exchange(gpu.samples, {});
  made.work = work_around(gpu.window);
  for (auto const& metric : defined_)
    if (metric.record.device == gpu.id) made.metrics.push_back(metric);
  made.captures = captures_;
  made.max_unknowns = limits_.unknowns;
  return made;
}

/// Returns all work that touches the window, and one piece before it and one after it. These show
/// that no record between them is missing. Launches of graphs are included whole, from their first
/// kernel to their last.
std::vector<sampled_work> recent_samples::work_around(sampling_window_record const& window) const {
  auto const each = [&](auto take) {
    for (auto const& work : work_)
      if (work.device == static_cast<std::uint16_t>(raw(window.device))) take(work);
  };
  std::vector<sampled_work> around;
  std::vector<correlation_id> graphs;
  sampled_work const *before = nullptr, *after = nullptr;
  each([&](sampled_work const& work) {
    if (work.end() <= window.start) {
      if (before == nullptr || work.start > before->start) before = &work;
    } else if (work.start >= window.end) {
      if (after == nullptr || work.start < after->start) after = &work;
    } else if (work.is != sampled_work::kind::graph) {
      around.push_back(work);
    } else if (graphs.empty() || graphs.back() != work.correlation) {
      graphs.push_back(work.correlation);
    }
  });
  for (auto const* const next : {before, after})
    if (next != nullptr) around.push_back(*next);
  if (graphs.empty()) return around;
  std::sort(graphs.begin(), graphs.end());
  each([&](sampled_work const& work) {
    if (work.is != sampled_work::kind::graph) return;
    if (std::binary_search(graphs.begin(), graphs.end(), work.correlation)) around.push_back(work);
  });
  return around;
}

}  // namespace gpuprof::guest
