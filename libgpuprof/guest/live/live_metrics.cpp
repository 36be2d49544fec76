// SPDX-License-Identifier: Apache-2.0
#include "guest/live/live_metrics.hpp"

#include <algorithm>
#include <iterator>

namespace gpuprof::guest {
namespace {

constexpr std::size_t judged_at_once = 64;
constexpr std::size_t max_metrics = 4096;
constexpr std::size_t max_codes = 65536;
// The record of a read launch normally arrives with the others of its time; a reading waits this
// long for it. A launch is also expected this long.
constexpr duration_ns patience{1'000'000'000};

timestamp_ns last_moment(counter_reading const& reading) {
  timestamp_ns latest;
  for (auto const& launch : reading.launches) latest = std::max(latest, launch.closed);
  return latest;
}

kernel_record as_kernel(graph_record const& graph) {
  kernel_record whole;
  whole.device = graph.device;
  whole.start = graph.start;
  whole.duration = graph.duration;
  whole.launched = graph.launched;
  whole.correlation = graph.correlation;
  whole.range = graph.range;
  whole.graph = graph.graph;
  return whole;
}

/// The kernels known here, by shape id and name. Labels otherwise come from the shapes of a whole
/// trace.
struct named_kernels {
  explicit named_kernels(workload_sums const& sums) {
    for (auto const& [shape, name] : sums.kernel_names) {
      auto& row = shapes.emplace_back();
      row.id = shape;
      row.name = static_cast<name_id>(texts.size());
      texts.push_back(name);
    }
  }
  template <class ByText>
  kernel_codes codes(ByText const& known) const {
    kernel_codes found;
    for (auto const& shape : shapes) {
      auto const code = known.find(texts[raw(shape.name)]);
      if (code != known.end()) found.add(record_of(shape.name, code_of(code->second)));
    }
    return found;
  }
  kernel_labels labels() const {
    return {shapes, [this](name_id name) { return texts[raw(name)]; }, kernel_name_style::mangled};
  }

  std::vector<kernel_shape> shapes;
  std::vector<std::string_view> texts;
};

range_work everything(workload_times const& times) {
  range_work all;
  for (std::uint32_t i = 0; i < times.size(); ++i) all.workloads.push_back({i, times.tally(i)});
  return all;
}

void drop_empty(std::vector<roofline_row>& rows) {
  std::erase_if(rows, [](roofline_row const& row) { return row.launches == 0; });
}

}  // namespace

live_metrics::live_metrics(std::function<std::string_view(name_id)> text, capacity limits)
    : text_(std::move(text)),
      limits_(limits),
      neighbors_(limits.neighbors),
      samples_(limits.samples),
      workloads_(text_, limits.workloads) {}

void live_metrics::add(device_record const& device) {
  auto chip = std::string(text_(device.chip));
  std::scoped_lock const lock(mutex_);
  devices_[device.device] = {std::move(chip), measured_roofs(device)};
}

void live_metrics::add(peak_record const& peak) {
  auto const test = text_(peak.test);
  std::scoped_lock const lock(mutex_);
  if (auto const device = devices_.find(peak.device); device != devices_.end())
    device->second.roofs.add(peak, test);
}

void live_metrics::add(kernel_code_record const& code) {
  auto const name = std::string(text_(code.name));
  std::scoped_lock const lock(mutex_);
  if (codes_.size() < max_codes || codes_.contains(name)) codes_.insert_or_assign(name, code);
}

void live_metrics::add(metric_record const& metric) {
  if (defined_.size() == max_metrics) return;
  defined_.push_back({metric, std::string(text_(metric.name))});
  samples_.define(metric, defined_.back().name);
  std::scoped_lock const lock(mutex_);
  metrics_.define(metric, defined_.back().name);
}

void live_metrics::add(kernel_shape const& shape) {
  std::scoped_lock const lock(mutex_);
  workloads_.add(shape);
}

void live_metrics::add(range_begin const& begin) {
  std::scoped_lock const lock(mutex_);
  workloads_.add(begin);
}

void live_metrics::add(range_end const& end) {
  std::scoped_lock const lock(mutex_);
  workloads_.add(end);
}

/// True for kernels of a graph that was read as a whole: they count as parts of that graph from
/// then on.
bool live_metrics::is_one_workload(kernel_record const& kernel) {
  if (raw(kernel.graph) == 0) return false;
  if (kernel.graph != last_graph_) {
    last_graph_ = kernel.graph;
    last_graph_was_read_ = metrics_.has_workload({kernel.device, {}, kernel.graph});
  }
  return last_graph_was_read_;
}

void live_metrics::add(std::span<kernel_record const> kernels) {
  std::scoped_lock const lock(mutex_);
  for (auto const& kernel : kernels) {
    auto const is_graph = is_one_workload(kernel);
    workloads_.add(kernel, is_graph);
    samples_.add(kernel, is_graph);
    if (neighbors_.add(kernel)) workloads_.note_sampled(kernel, is_graph);
  }
}

void live_metrics::add(graph_record const& graph) {
  auto const whole = as_kernel(graph);
  samples_.add(whole, true);
  std::scoped_lock const lock(mutex_);
  workloads_.add(whole, true);
  if (neighbors_.add(whole)) workloads_.note_sampled(whole, true);
}

void live_metrics::expect_reading(correlation_id launch) {
  if (neighbors_.expect(launch)) note_read(launch);
}

/// The kernel has already been added like any other; marks it as sampled.
void live_metrics::note_read(correlation_id launch) {
  auto const& kernel = neighbors_.find(launch)->first;
  std::scoped_lock const lock(mutex_);
  workloads_.note_sampled(kernel, is_one_workload(kernel));
}

void live_metrics::add(counter_reading const& reading) {
  for (auto const& launch : reading.launches)
    if (neighbors_.find(launch.correlation) == nullptr &&
        neighbors_.expect_late(launch.correlation))
      note_read(launch.correlation);
  if (waiting_.size() < limits_.waiting_readings) return waiting_.push_back(reading);
  forget(reading);
}

void live_metrics::add(window_record const& capture) {
  if (capture.end.value == 0) return samples_.open_capture(capture.start);
  samples_.close_capture(capture.end);
}

/// The values of the reading are lost. That it slowed its launches is still noted.
void live_metrics::forget(counter_reading const& reading) {
  auto const judge = judge_of(reading.launches);
  std::scoped_lock const lock(mutex_);
  note_slowed(reading.launches, judge);
  ++readings_forgotten_;
}

bool live_metrics::is_ready(counter_reading const& reading,
                            timestamp_ns complete_until) const noexcept {
  auto const last = last_moment(reading);
  if (last > complete_until) return false;
  if (last + patience <= complete_until) return true;
  return std::all_of(reading.launches.begin(), reading.launches.end(), [this](auto const& launch) {
    return neighbors_.find(launch.correlation) != nullptr;
  });
}

/// A running kernel can hold back the records of others. Then `complete_until` does not advance,
/// and the launches are expected for longer.
void live_metrics::forget_old_expectations(timestamp_ns complete_until) noexcept {
  auto const progressed = complete_until >= last_forgot_ + patience;
  if (progressed || complete_until < last_forgot_) last_forgot_ = complete_until;
  if (!progressed) return;
  neighbors_.forget_old_expectations();
}

void live_metrics::judge(timestamp_ns complete_until) {
  auto const later = std::partition(
      waiting_.begin(), waiting_.end(),
      [&](counter_reading const& waiting) { return is_ready(waiting, complete_until); });
  auto const ready = std::span(waiting_.begin(), later);
  for (std::size_t from = 0; from < ready.size(); from += judged_at_once)
    judge_some(ready.subspan(from, std::min(judged_at_once, ready.size() - from)));
  waiting_.erase(waiting_.begin(), later);
  keep_window(complete_until);
  forget_old_expectations(complete_until);
  last_graph_ = {};  // it may have been read since
  std::scoped_lock const lock(mutex_);
  workloads_.settle(complete_until);
}

void live_metrics::keep_window(timestamp_ns complete_until) {
  auto window = samples_.take_complete(complete_until);
  std::scoped_lock const lock(mutex_);
  windows_passed_over_ = samples_.passed_over();
  if (!window) return;
  windows_.push_back(std::move(*window));
  std::size_t bytes = 0;
  for (auto const& kept : windows_) bytes += kept.bytes();
  while (windows_.size() > limits_.kept_windows ||
         (bytes > limits_.kept_window_bytes && windows_.size() > 1)) {
    bytes -= windows_.front().bytes();
    windows_.pop_front();
    ++windows_dropped_;
  }
}

/// The caller holds no lock that the adding thread waits for.
void live_metrics::divide_windows() {
  std::scoped_lock const alone(dividing_);
  std::deque<sampled_window> windows;
  {
    std::scoped_lock const lock(mutex_);
    windows.swap(windows_);
  }
  for (auto const& window : windows) {
    auto const found = window.divide();
    std::scoped_lock const lock(mutex_);
    if (leaves_out_work_) return;
    sampled_.take(found, limits_.workloads.workloads);
    ++windows_divided_;
  }
}

void live_metrics::leave_out_work() {
  if (samples_.has_given_up()) return;
  samples_.give_up();
  std::scoped_lock const lock(mutex_);
  leaves_out_work_ = true;
  windows_.clear();
  sampled_ = {};  // the report has none either
}

launch_metrics live_metrics::judge_of(std::span<read_launch_record const> launches) const {
  launch_metrics judge;
  for (auto const& metric : defined_) judge.define(metric.record, metric.name);
  for (auto const& launch : launches) judge.add(launch);
  return judge;
}

void live_metrics::judge_some(std::span<counter_reading const> readings) {
  std::vector<read_launch_record> launches;
  for (auto const& reading : readings)
    launches.insert(launches.end(), reading.launches.begin(), reading.launches.end());
  auto judged = judge_of(launches);
  for (auto const& reading : readings)
    for (auto const& value : reading.values) judged.add(value);
  neighbors_.show(launches, judged);
  judged.join();
  std::scoped_lock const lock(mutex_);
  metrics_.take_means(judged, limits_.workloads.workloads);
  note_slowed(launches, judged);
}

/// The caller holds the mutex.
void live_metrics::note_slowed(std::span<read_launch_record const> launches,
                               launch_metrics const& judge) {
  for (auto const& launch : launches) {
    auto const* const seen = neighbors_.find(launch.correlation);
    if (seen != nullptr && seen->kernels == 1 &&
        judge.sampling_of(launch.correlation) == sampling::slowed)
      workloads_.note_slowed(seen->first);
  }
}

achieved_snapshot live_metrics::snapshot() {
  divide_windows();
  workload_sums sums;
  launch_metrics metrics;
  sampled_figures sampled;
  std::map<device_id, roofline_device> devices;
  achieved_snapshot out;
  decltype(codes_) codes;
  {
    std::scoped_lock const lock(mutex_);
    sums = workloads_.sums();
    metrics = metrics_;
    sampled = sampled_;
    devices = devices_;
    codes = codes_;
    out.readings_forgotten = readings_forgotten_;
    out.sampled_windows = windows_divided_;
    out.windows_passed_over = windows_passed_over_ + windows_dropped_;
  }
  auto const times = sums.times(metrics);
  named_kernels const kernels(sums);
  workload_metrics const known(metrics, sampled);
  roofline const roofs(known, times, devices, kernels.shapes, kernels.codes(codes));
  auto const whole = everything(times);
  out.all = roofs.by_range(std::span(&whole, 1), [](range_key) { return std::string(); }).front();
  out.ranges = roofs.by_range(sums.ranges(),
                              [&sums](range_key key) { return sums.range_names[raw(key.name)]; });
  out.kernels = roofs.by_kernel(kernels.labels());
  for (auto& row : out.kernels)
    if (row.name == "(unknown)") row.name = "(other)";
  drop_empty(out.kernels);
  out.valid_readings = metrics.valid_samples();
  out.discarded = metrics.discarded();
  out.ranges_left_out = sums.ranges_left_out;
  out.has_peaks = std::any_of(devices.begin(), devices.end(),
                              [](auto const& device) { return !device.second.roofs.empty(); });
  return out;
}

}  // namespace gpuprof::guest
