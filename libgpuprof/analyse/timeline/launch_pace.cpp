// SPDX-License-Identifier: Apache-2.0
#include "analyse/timeline/launch_pace.hpp"

#include <algorithm>

namespace gpuprof {
namespace {

constexpr std::int64_t clear_gap_ns = 20'000;  // the GPU had nothing to do
constexpr std::int64_t clearly_queued_ns =
    10'000;  // before its predecessor ended: above clock skew
constexpr std::uint64_t enough = 20;
constexpr double longest_delay = 50'000;  // beyond it something else held the work

}  // namespace

void launch_pace::add(gpu_item const& item) {
  lengths_.add(nanoseconds_of(item));
  auto& busy = busy_until_[item.device];
  auto const is_launched = item.launched.value != 0 && item.launched <= item.start;
  if (is_launched && busy.value != 0 && item.launched >= busy &&
      (item.start - busy).value > clear_gap_ns)
    delays_.add(static_cast<std::uint64_t>((item.start - item.launched).value));
  busy = std::max(busy, item.end);

  auto& stream_end = stream_end_[(std::uint64_t{raw(item.context)} << 32) | raw(item.stream)];
  if (is_launched && stream_end.value != 0 && item.start >= stream_end &&
      (stream_end - item.launched).value > clearly_queued_ns)
    pauses_.add(static_cast<std::uint64_t>((item.start - stream_end).value));
  stream_end = std::max(stream_end, item.end);

  if (item.launched.value == 0) return;
  auto& last = last_launch_[item.thread];
  if (last.value != 0 && item.launched > last)
    distances_.add(static_cast<std::uint64_t>((item.launched - last).value));
  last = std::max(last, item.launched);
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
  // Most pauses are those of the hardware; dependencies make some longer.
  if (pauses_.count() >= enough) found.back_to_back = *pauses_.quantile(0.5);
  found.back_to_back = std::min(found.back_to_back, 5'000.0);
  found.launch_distance = distances_.quantile(0.5).value_or(0);
  found.kernel_length = lengths_.quantile(0.5).value_or(0);
  return found;
}

}  // namespace gpuprof
