// SPDX-License-Identifier: Apache-2.0
#include "guest/live/launch_neighbors.hpp"

#include <algorithm>
#include <utility>

namespace gpuprof::guest {
namespace {

using neighbor = neighbored_launch::neighbor;

// Kernel records arrive in batches of some hundreds. If every launch is read, that many launches
// are expected before the first kernel record arrives.
constexpr std::size_t max_expected = 512;
// `expect()` compares only this many recent kernels: the kernel of a launch can have arrived only
// just before.
constexpr std::size_t just_now = 512;

void keep_later(neighbor& of, timestamp_ns end, correlation_id correlation) {
  if (end > of.moment) of = {end, correlation};
}
void keep_earlier(neighbor& of, timestamp_ns start, correlation_id correlation) {
  if (of.moment.value == 0 || start < of.moment) of = {start, correlation};
}

void note_kernel(neighbored_launch& launch, kernel_record const& kernel) {
  if (kernel.correlation == launch.first.correlation)
    ++launch.kernels;
  else if (kernel.start < launch.first.start)
    keep_later(launch.before, kernel.start + kernel.duration, kernel.correlation);
  else
    keep_earlier(launch.after, kernel.start, kernel.correlation);
}

/// Returns a record for work that began before the launch and ended at `before.moment`. It ran at
/// least from the launch's start.
kernel_record work_before(neighbored_launch const& launch, neighbor const& before) {
  kernel_record work;
  work.device = launch.first.device;
  work.correlation = before.correlation;
  work.start = std::min(before.moment, launch.first.start);
  work.duration = before.moment - work.start;
  return work;
}
kernel_record work_after(neighbored_launch const& launch, neighbor const& after) {
  kernel_record work;
  work.device = launch.first.device;
  work.correlation = after.correlation;
  work.start = after.moment;
  return work;
}

memset_record as_copy(kernel_record const& work) {
  memset_record copy;
  copy.device = work.device;
  copy.start = work.start;
  copy.duration = work.duration;
  return copy;
}

graph_record as_graph(kernel_record const& work) {
  graph_record graph;
  graph.device = work.device;
  graph.start = work.start;
  graph.duration = work.duration;
  graph.correlation = work.correlation;
  graph.graph = work.graph;
  return graph;
}

void show_own(neighbored_launch const& launch, launch_metrics& judge) {
  if (raw(launch.first.shape) == 0 && raw(launch.first.graph) != 0)
    return judge.see(as_graph(launch.first));
  judge.see(launch.first);
  if (launch.kernels > 1) judge.see(launch.first);  // shown twice: it is more than one kernel
  if (!launch.has_copies) return;
  auto copies = as_copy(launch.first);
  copies.correlation = launch.first.correlation;
  copies.graph = launch.first.graph;
  judge.see(copies);
}

}  // namespace

launch_neighbors::seen_device& launch_neighbors::find_or_make(device_id device) {
  auto const found = std::find_if(devices_.begin(), devices_.end(),
                                  [device](seen_device const& d) { return d.id == device; });
  if (found != devices_.end()) {
    last_ = static_cast<std::size_t>(found - devices_.begin());
    return *found;
  }
  seen_device made;  // built before it is added: memory can run out
  made.id = device;
  made.kernels.work.resize(limits_.recent);
  made.copies.work.resize(limits_.recent);
  made.launches.reserve(limits_.launches);
  devices_.push_back(std::move(made));
  last_ = devices_.size() - 1;
  return devices_.back();
}

bool launch_neighbors::take_expected(correlation_id correlation) {
  auto const found = std::find(expected_.begin(), expected_.end(), correlation);
  if (found == expected_.end()) return false;
  if (std::cmp_less(found - expected_.begin(), old_expectations_)) --old_expectations_;
  expected_.erase(found);
  --expected_with(correlation);
  return true;
}

bool launch_neighbors::expect(correlation_id correlation) {
  return expect(correlation, just_now);
}

bool launch_neighbors::expect(correlation_id correlation, std::size_t looked_back) {
  for (auto& device : devices_) {
    auto const& recent = device.kernels;
    auto const size = recent.work.size();
    for (std::size_t back = 1; back <= std::min(looked_back, size); ++back) {
      auto const& kernel = recent.work[(recent.next + size - back) % size];
      if (kernel.start.value == 0 || kernel.correlation != correlation) continue;
      keep(device, kernel_record(kernel));
      return true;
    }
  }
  if (std::find(expected_.begin(), expected_.end(), correlation) != expected_.end()) return false;
  if (expected_.size() == max_expected) take_expected(expected_.front());  // probably lost
  expected_.push_back(correlation);
  ++expected_with(correlation);
  return false;
}

/// Removes launches whose kernel never came (filtered out or lost). They would cost a comparison
/// for every other kernel.
void launch_neighbors::forget_old_expectations() {
  auto const old_end = expected_.begin() + static_cast<std::ptrdiff_t>(old_expectations_);
  for (auto old = expected_.begin(); old != old_end; ++old) --expected_with(*old);
  expected_.erase(expected_.begin(), old_end);
  old_expectations_ = expected_.size();
}

void launch_neighbors::keep(seen_device& device, kernel_record const& kernel) {
  neighbored_launch made{kernel, 0, device.kernels.gone, {}, device.copies.gone, {}};
  for (auto const& other : device.kernels.work)
    if (other.start.value != 0) note_kernel(made, other);
  for (auto const& copy : device.copies.work)
    if (copy.start.value != 0) note_copy(made, copy);
  auto& launches = device.launches;
  if (launches.size() == limits_.launches)
    launches.erase(launches.begin(),
                   launches.begin() + static_cast<std::ptrdiff_t>((limits_.launches + 1) / 2));
  auto after = launches.end();
  while (after != launches.begin() && std::prev(after)->first.start > kernel.start) --after;
  launches.insert(after, made);
}

/// Launches are sorted by start. If one began before this work, all earlier launches did too, and
/// they already have a neighbor that is no later than this launch.
void launch_neighbors::place_slowly(std::vector<neighbored_launch>& launches,
                                    kernel_record const& kernel) {
  for (auto launch = launches.rbegin(); launch != launches.rend(); ++launch) {
    note_kernel(*launch, kernel);
    if (launch->first.start <= kernel.start) return;
  }
}

void launch_neighbors::note_copy(neighbored_launch& launch, seen_copy const& copy) {
  if (raw(copy.of_graph) != 0 && copy.of_graph == launch.first.correlation)
    launch.has_copies = true;
  else if (copy.start < launch.first.start)
    keep_later(launch.copy_before, copy.end, {});
  else
    keep_earlier(launch.copy_after, copy.start, {});
}

void launch_neighbors::add_copy(device_id of_device, seen_copy const& copy) {
  auto& device = of(of_device);
  auto& recent = device.copies;
  auto& place = recent.work[recent.next];
  keep_later(recent.gone, place.end, {});
  place = copy;
  recent.next = (recent.next + 1) % recent.work.size();
  for (auto launch = device.launches.rbegin(); launch != device.launches.rend(); ++launch) {
    note_copy(*launch, copy);
    // As for kernels. But a launch is not a copy neighbor of another, so the search ends only if
    // there is another copy in between.
    if (launch->first.start <= copy.start && launch->copy_after.moment < copy.start) return;
  }
}

neighbored_launch const* launch_neighbors::find(correlation_id correlation) const noexcept {
  for (auto const& device : devices_) {
    auto const& launches = device.launches;
    for (auto const at : {last_found_, last_found_ + 1})
      if (at < launches.size() && launches[at].first.correlation == correlation)
        return &launches[last_found_ = at];
    for (auto at = launches.size(); at-- != 0;)
      if (launches[at].first.correlation == correlation) return &launches[last_found_ = at];
  }
  return nullptr;
}

void launch_neighbors::show(std::span<read_launch_record const> launches,
                            launch_metrics& judge) const {
  // A launch that is shown itself must not be shown again as a neighbor: it would count as a second
  // kernel.
  auto const is_shown = [launches](correlation_id correlation) {
    return std::any_of(launches.begin(), launches.end(), [correlation](auto const& launch) {
      return launch.correlation == correlation;
    });
  };
  for (auto const& record : launches) {
    auto const* const launch = find(record.correlation);
    if (launch == nullptr) continue;
    show_own(*launch, judge);
    if (launch->before.moment.value != 0 && !is_shown(launch->before.correlation))
      judge.see(work_before(*launch, launch->before));
    if (launch->after.moment.value != 0 && !is_shown(launch->after.correlation))
      judge.see(work_after(*launch, launch->after));
    if (launch->copy_before.moment.value != 0)
      judge.see(as_copy(work_before(*launch, launch->copy_before)));
    if (launch->copy_after.moment.value != 0)
      judge.see(as_copy(work_after(*launch, launch->copy_after)));
  }
}

}  // namespace gpuprof::guest
