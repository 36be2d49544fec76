// SPDX-License-Identifier: Apache-2.0
#include "guest/live/live_metrics.hpp"

#include "model/correlation.hpp"

#include <algorithm>
#include <cmath>

namespace gpuprof::guest {
namespace {

constexpr std::size_t max_codes = 65536;
constexpr std::size_t max_shapes_of_any_geometry = 65536;
// A launch that was read has its record by the time all others of its time have theirs, but for
// accidents. Also how long its kernel is expected.
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

}  // namespace

live_metrics::live_metrics(std::function<std::string_view(name_id)> text, live_totals& totals,
                           capacity limits)
    : text_(std::move(text)), totals_(totals), limits_(limits), launches_(limits.launches) {}

void live_metrics::add(device_record const& device) {
  auto chip = std::string(text_(device.chip));
  std::scoped_lock const lock(mutex_);
  auto& known = counted_.devices[device.device];
  known.chip = std::move(chip);
  known.roofs = measured_roofs(device);
}

void live_metrics::add(peak_record const& peak) {
  auto const test = text_(peak.test);
  std::scoped_lock const lock(mutex_);
  if (auto const device = counted_.devices.find(peak.device); device != counted_.devices.end())
    device->second.roofs.add(peak, test);
}

void live_metrics::add(kernel_code_record const& code) {
  auto const name = std::string(text_(code.name));
  std::scoped_lock const lock(mutex_);
  auto& codes = counted_.codes;
  if (codes.size() < max_codes || codes.contains(name)) codes.insert_or_assign(name, code_of(code));
}

void live_metrics::add(metric_record const& metric) {
  auto const name = text_(metric.name);
  std::scoped_lock const lock(mutex_);
  if (metric.sampled) return sampled_.define(metric.metric, name);
  if (metric.patches_kernel) slow_groups_.insert({metric.device, metric.group});
  auto const place = place_of_metric(name);
  if (!place) return;
  read_metrics_[raw(metric.metric)] = {*place, metric.patches_kernel};
  if (*place < flop_counter_count) counted_.devices[metric.device].planned[*place] = true;
}

void live_metrics::add(kernel_shape const& shape) {
  if (!shape.has_geometry() && of_any_geometry_.size() < max_shapes_of_any_geometry)
    of_any_geometry_.insert(shape.id);
}

void live_metrics::add(std::span<kernel_record const> kernels) {
  for (auto const& kernel : kernels) add_launch(kernel);
}

void live_metrics::add(graph_record const& graph) {
  add_launch(as_kernel(graph));
}

void live_metrics::add_launch(kernel_record const& launch) {
  auto const graph = launch.graph;
  if (raw(graph) != 0 && graph != last_graph_) {
    last_graph_ = graph;
    last_counts_as_one_ = totals_.counts_as_one(launch);
  }
  launches_.add(launch, raw(graph) != 0 && (last_counts_as_one_ || raw(launch.shape) == 0));
}

void live_metrics::expect_reading(correlation_id launch) {
  launches_.expect(launch);
}

void live_metrics::add(counter_reading const& reading) {
  for (auto const& launch : reading.launches) launches_.expect(launch.correlation, true);
  if (waiting_.size() < limits_.waiting_readings) return waiting_.push_back(reading);
  note_read(reading);  // its values are lost; that it slowed its launches is not
  std::scoped_lock const lock(mutex_);
  ++unused_readings_;
}

void live_metrics::add(sampling_results const& results) {
  std::scoped_lock const lock(mutex_);
  sampled_.add(results.samples);
}

bool live_metrics::is_ready(counter_reading const& reading, timestamp_ns complete_until) noexcept {
  auto const last = last_moment(reading);
  if (last > complete_until) return false;
  if (last + patience <= complete_until) return true;
  return std::all_of(reading.launches.begin(), reading.launches.end(), [this](auto const& launch) {
    return launches_.find(launch.correlation) != nullptr;
  });
}

void live_metrics::judge(timestamp_ns complete_until) {
  auto const later = std::stable_partition(
      waiting_.begin(), waiting_.end(),
      [&](counter_reading const& waiting) { return is_ready(waiting, complete_until); });
  std::for_each(waiting_.begin(), later, [this](counter_reading const& ready) { judge(ready); });
  waiting_.erase(waiting_.begin(), later);
  forget_old_expectations(complete_until);
  last_graph_ = {};  // it may have been read now
  totals_.settle(complete_until);
}

/// While a kernel in flight holds back the records of others, theirs are expected for longer.
void live_metrics::forget_old_expectations(timestamp_ns complete_until) {
  auto const progressed = complete_until >= last_forgot_ + patience;
  if (progressed || complete_until < last_forgot_) last_forgot_ = complete_until;
  if (progressed) launches_.forget_old_expectations();
}

/// Nothing if one of its launches has no record, ran beside other work, or is of another workload.
std::optional<workload_id> live_metrics::undisturbed_workload(counter_reading const& reading) {
  std::optional<workload_id> all;
  for (auto const& read : reading.launches) {
    auto const* const launch = launches_.find(read.correlation);
    if (launch == nullptr || launch->first.device != read.device ||
        !are_of_one_call(read.opened, launch->first.start))
      return std::nullopt;
    if (launch->of_kernels.are_in(read.opened, read.closed)) return std::nullopt;
    // Copies run no instructions, and a rewritten kernel counts only those.
    if (!is_slow(read) && launch->of_copies.are_in(read.opened, read.closed)) return std::nullopt;
    auto const workload = launch->workload();
    if (!workload || (all && *workload != *all)) return std::nullopt;
    all = workload;
  }
  if (all && of_any_geometry_.contains(all->shape)) return std::nullopt;
  return all;
}

/// How long the launches of a workload take is known by the others.
void live_metrics::note_read(counter_reading const& reading) {
  for (auto const& read : reading.launches) {
    auto const* const launch = launches_.find(read.correlation);
    if (launch == nullptr || (launch->kernels != 1 && !launch->counts_as_graph)) continue;
    totals_.note_read(launch->first, launch->counts_as_graph, launch->ns, is_slow(read));
  }
}

void live_metrics::judge(counter_reading const& reading) {
  note_read(reading);
  auto const workload = undisturbed_workload(reading);
  if (workload && raw(workload->graph) != 0)
    totals_.count_as_one(workload->device, workload->graph);
  std::scoped_lock const lock(mutex_);
  auto const has_room = workload && (counted_.workloads.size() < limits_.workloads ||
                                     counted_.workloads.contains(*workload));
  if (!has_room) {
    ++unused_readings_;
    return;
  }
  ++valid_readings_;
  auto& launch = counted_.workloads[*workload];
  ++launch.readings;
  auto const slow = is_slow(reading.launches.back());
  for (auto const& value : reading.values) {
    auto const metric = read_metrics_.find(raw(value.metric));
    if (metric == read_metrics_.end() || !std::isfinite(value.value)) continue;
    // A rewritten kernel runs at other rates and moves other bytes: only what it was rewritten to
    // count holds for the kernel as it is.
    if (!slow || metric->second.is_slow) launch.means[metric->second.place].add(value.value);
  }
}

achieved_snapshot live_metrics::snapshot() {
  auto const ran = totals_.workloads();
  counted_launches counted;
  achieved_snapshot out;
  {
    std::scoped_lock const lock(mutex_);
    counted = counted_;
    out.sampled = sampled_.rates();
    out.valid_readings = valid_readings_;
    out.unused_readings = unused_readings_;
  }
  achieved_lines const lines(ran, counted);
  out.all = lines.all();
  out.ranges = lines.by_range();
  out.kernels = lines.by_kernel();
  out.has_peaks = std::any_of(counted.devices.begin(), counted.devices.end(),
                              [](auto const& device) { return !device.second.roofs.empty(); });
  return out;
}

}  // namespace gpuprof::guest
