// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/timeline/launch_pace.hpp"

#include <algorithm>

namespace gpuprof::host {
namespace {

constexpr std::int64_t clear_gap_ns = 20'000;  // the GPU was clearly idle
constexpr std::int64_t clearly_queued_ns =
    10'000;  // before its predecessor ended: longer than the clock skew
constexpr std::uint64_t enough = 20;
constexpr double longest_delay = 50'000;  // above this, something else delayed the work
constexpr double longest_pause = 5'000;

bool is_launched(gpu_item const& item) noexcept {
  return item.launched.value != 0 && item.launched <= item.start;
}

}  // namespace

void launch_pace::add(gpu_item const& item) {
  lengths_.add(nanoseconds_of(item));
  auto& busy = busy_until_[item.device];
  if (is_launched(item) && busy.value != 0 && item.launched >= busy &&
      (item.start - busy).value > clear_gap_ns)
    (item.of_graph ? graph_delays_ : delays_)
        .add(static_cast<std::uint64_t>((item.start - item.launched).value));
  busy = std::max(busy, item.end);

  add_pause(item, pauses_);
  if (item.launched.value == 0) return;
  auto& last = last_launch_[item.thread];
  if (last.value != 0 && item.launched > last)
    distances_.add(static_cast<std::uint64_t>((item.launched - last).value));
  last = std::max(last, item.launched);
}

void launch_pace::add_transfer(gpu_item const& item) {
  auto& busy = busy_until_[item.device];
  busy = std::max(busy, item.end);
  add_pause(item, copy_pauses_);
}

void launch_pace::add_pause(gpu_item const& item, log_histogram& pauses) {
  auto& stream_end = stream_end_[(std::uint64_t{raw(item.context)} << 32) | raw(item.stream)];
  if (is_launched(item) && stream_end.value != 0 && item.start >= stream_end &&
      (stream_end - item.launched).value > clearly_queued_ns)
    pauses.add(static_cast<std::uint64_t>((item.start - stream_end).value));
  stream_end = std::max(stream_end, item.end);
}

pace launch_pace::measured(double peak_delay) const {
  pace found;
  if (delays_.count() >= enough) {
    found.start_delay = *delays_.quantile(0.01);
    found.usual_delay = std::min(*delays_.quantile(0.5), longest_delay);
    found.start_delay = std::min(found.start_delay, found.usual_delay);
    found.delay_is_measured = true;
  } else if (peak_delay > 0) {
    found.start_delay = peak_delay;
    found.usual_delay = 1.5 * peak_delay;
  }
  if (graph_delays_.count() >= enough) found.graph_delay = *graph_delays_.quantile(0.5);
  // Most pauses come from the hardware; dependencies lengthen some.
  if (pauses_.count() >= enough) found.back_to_back = *pauses_.quantile(0.5);
  found.back_to_back = std::min(found.back_to_back, longest_pause);
  // On an H100 a copy of four bytes starts 1 to 9 us after the kernel before it, even if it was
  // queued.
  found.before_copy = found.back_to_back;
  if (copy_pauses_.count() >= enough)
    found.before_copy = std::clamp(*copy_pauses_.quantile(0.5), found.back_to_back, longest_pause);
  found.launch_distance = distances_.quantile(0.5).value_or(0);
  found.kernel_length = lengths_.quantile(0.5).value_or(0);
  return found;
}

}  // namespace gpuprof::host
