// SPDX-License-Identifier: Apache-2.0
#include "guest/live/read_launches.hpp"

#include <algorithm>
#include <utility>

namespace gpuprof::guest {
namespace {

// A launch is expected when CUPTI's own kernels around it are seen: its kernel is just before or
// after them.
constexpr std::size_t just_now = 512;

}  // namespace

std::optional<workload_id> read_launch::workload() const noexcept {
  auto const is_graph =
      raw(first.graph) != 0 && (raw(first.shape) == 0 || kernels > 1 || has_copies);
  if (is_graph) return workload_id{first.device, {}, first.graph};
  if (kernels > 1) return std::nullopt;
  return workload_id{first.device, first.shape, {}};
}

read_launches::seen_device& read_launches::of(device_id device) {
  for (auto& seen : devices_)
    if (seen.id == device) return seen;
  seen_device made;  // whole, or not at all if there is no memory
  made.id = device;
  made.recent.resize(limits_.recent);
  made.launches.reserve(limits_.launches);
  return devices_.emplace_back(std::move(made));
}

void read_launches::note(read_launch& launch, kernel_record const& work, bool is_copy) {
  if (work.correlation == launch.first.correlation && (!is_copy || raw(work.graph) != 0)) {
    launch.has_copies = launch.has_copies || is_copy;
    launch.kernels += !is_copy;
    launch.ns += is_copy ? 0 : nanoseconds(work.duration);
    return;
  }
  auto& beside = is_copy ? launch.of_copies : launch.of_kernels;
  if (work.start < launch.first.start)
    beside.before = std::max(beside.before, work.start + work.duration);
  else if (beside.after.value == 0 || work.start < beside.after)
    beside.after = work.start;
}

void read_launches::add(kernel_record const& work, bool is_copy, bool counts_as_graph) {
  auto& device = of(work.device);
  // Launches are in order of start. Nearly always the work is later than the last one and the work
  // after it, and so it is later than those of all others.
  for (auto launch = device.launches.rbegin(); launch != device.launches.rend(); ++launch) {
    auto const after = is_copy ? launch->of_copies.after : launch->of_kernels.after;
    if (after.value != 0 && work.start >= after && work.correlation != launch->first.correlation)
      break;
    note(*launch, work, is_copy);
  }
  auto& place = device.recent[device.next];
  auto& gone = place.is_copy ? device.gone_copies : device.gone;
  gone = std::max(gone, place.work.start + place.work.duration);
  place.work = work;
  place.is_copy = is_copy;
  place.counts_as_graph = counts_as_graph;
  device.next = (device.next + 1) % device.recent.size();
  if (is_copy || (expected_.empty() && long_expected_.empty())) return;
  if (expected_.erase(raw(work.correlation)) + long_expected_.erase(raw(work.correlation)) != 0)
    keep(device, place);
}

void read_launches::expect(correlation_id launch, bool is_late) {
  if (find(launch) != nullptr) return;
  for (auto& device : devices_) {
    auto const size = device.recent.size();
    for (std::size_t back = 1; back <= (is_late ? size : std::min(just_now, size)); ++back) {
      auto const& seen = device.recent[(device.next + size - back) % size];
      if (seen.work.start.value != 0 && !seen.is_copy && seen.work.correlation == launch)
        return keep(device, seen);
    }
  }
  if (expected_.size() < limits_.expected) expected_.insert(raw(launch));
}

void read_launches::forget_old_expectations() {
  long_expected_ = std::exchange(expected_, {});
}

void read_launches::keep(seen_device& device, piece const& kernel) {
  read_launch made;
  made.first = kernel.work;
  made.counts_as_graph = kernel.counts_as_graph;
  made.of_kernels.before = device.gone;
  made.of_copies.before = device.gone_copies;
  for (auto const& seen : device.recent)
    if (seen.work.start.value != 0) note(made, seen.work, seen.is_copy);
  auto& launches = device.launches;
  if (launches.size() == limits_.launches)
    launches.erase(launches.begin(),
                   launches.begin() + static_cast<std::ptrdiff_t>((limits_.launches + 1) / 2));
  auto const later = [&](read_launch const& launch) {
    return launch.first.start > made.first.start;
  };
  launches.insert(std::find_if_not(launches.rbegin(), launches.rend(), later).base(), made);
}

read_launch const* read_launches::find(correlation_id launch) const noexcept {
  for (auto const& device : devices_)
    for (auto at = device.launches.rbegin(); at != device.launches.rend(); ++at)
      if (at->first.correlation == launch) return &*at;
  return nullptr;
}

}  // namespace gpuprof::guest
