// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/launch_summary.hpp"

#include "host/analysis/api_summary.hpp"
#include "model/ids.hpp"

#include <algorithm>
#include <tuple>

namespace gpuprof::host {

launch_times::launch_times(kernel_labels const& labels, text_of_name text)
    : labels_(labels), text_(std::move(text)) {}

void launch_times::add(api_record const& call) {
  calls_.push_back(
      {call.correlation, call.os_thread, call.start, call.start + call.duration, call.name});
  sorted_ = false;
}

void launch_times::add(kernel_record const& kernel, std::uint32_t os_thread) {
  auto const* const recorded = call_of(kernel);
  if (recorded != nullptr) {
    ++matched_;
    return add(kernel, *recorded, api_index(recorded->name));
  }
  if (kernel.launched.value == 0 || os_thread == 0) {
    ++without_call_;
    return;
  }
  ++unrecorded_;
  add(kernel, {kernel.correlation, os_thread, kernel.launched, kernel.launched, {}},
      api_index(unrecorded_call(kernel)));
}

void launch_times::add(kernel_record const& kernel, api_call const& call, std::uint32_t api) {
  auto const kernel_end = kernel.start + kernel.duration;
  auto& group = groups_[{call.os_thread, kernel.device, api, labels_.label_of(kernel.shape)}];
  auto const length = [](timestamp_ns from, timestamp_ns to) {
    return to > from ? to.value - from.value : 0;
  };
  group.total.add(length(call.start, std::max(call.end, kernel_end)));
  group.api_time.add(length(call.start, call.end));
  if (kernel.start >= call.end) group.queued.add(length(call.end, kernel.start));
  group.kernel.add(nanoseconds(kernel.duration));
}

launch_times::api_call const* launch_times::call_of(kernel_record const& kernel) noexcept {
  if (!sorted_) {
    // A runtime call and the driver call inside it share a correlation id. The outer call is the
    // launch.
    std::sort(calls_.begin(), calls_.end(), [](api_call const& a, api_call const& b) {
      return std::tie(a.correlation, a.start, b.end) < std::tie(b.correlation, b.start, a.end);
    });
    sorted_ = true;
    hint_ = 0;
  }
  auto const correlation = kernel.correlation;
  auto const is_first_of = [&](std::size_t i) {
    return i < calls_.size() && calls_[i].correlation == correlation &&
           (i == 0 || calls_[i - 1].correlation != correlation);
  };
  // Kernels mostly come in the order of their launches, so the next call is close.
  for (std::size_t i = hint_; i < hint_ + 4; ++i)
    if (is_first_of(i)) return one_of(hint_ = i, kernel.start);
  auto const at = std::lower_bound(
      calls_.begin(), calls_.end(), correlation,
      [](api_call const& candidate, correlation_id id) { return candidate.correlation < id; });
  if (at == calls_.end() || at->correlation != correlation) return nullptr;
  return one_of(hint_ = static_cast<std::size_t>(at - calls_.begin()), kernel.start);
}

/// Returns the call with the correlation id of `first` that fits the start time: ids are reused
/// after days.
launch_times::api_call const* launch_times::one_of(std::size_t first,
                                                   timestamp_ns start) const noexcept {
  for (auto i = first; i < calls_.size() && calls_[i].correlation == calls_[first].correlation; ++i)
    if (are_of_one_call(calls_[i].start, start)) return &calls_[i];
  return nullptr;
}

std::uint32_t launch_times::api_index(name_id name) {
  auto const [at, is_new] = api_of_name_.try_emplace(name, 0);
  if (is_new) at->second = api_index(without_version_suffix(text_(name)));
  return at->second;
}

std::uint32_t launch_times::api_index(std::string_view name) {
  auto const next = static_cast<std::uint32_t>(api_names_.size());
  return api_names_.try_emplace(std::string(name), next).first->second;
}

std::vector<launch_row> launch_times::rows() {
  std::vector<std::string> names(api_names_.size());
  for (auto const& [name, index] : api_names_) names[index] = name;
  std::vector<launch_row> rows;
  for (auto& [key, group] : groups_) {
    rows.push_back({key.os_thread, key.device, names[key.api], key.label, group.total.summarize(),
                    group.api_time.summarize(), group.queued.summarize(),
                    group.kernel.summarize()});
  }
  std::stable_sort(rows.begin(), rows.end(), [](launch_row const& a, launch_row const& b) {
    return a.total.total > b.total.total;
  });
  return rows;
}

}  // namespace gpuprof::host
