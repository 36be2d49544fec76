// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/timeline/serialized_streams.hpp"

#include <algorithm>

namespace gpuprof::host {
namespace {

constexpr auto default_stream = stream_id{7};

}  // namespace

void serialized_streams::add(gpu_item const& kernel, std::optional<range_key> const& range,
                             pace const& run) {
  auto& of = recent_[kernel.device];
  if (kernel.stream == default_stream) {
    of.barrier = kernel;
    of.has_barrier = of.has_first;
    return;
  }
  auto const pause = static_cast<std::uint64_t>(3 * run.back_to_back);
  auto const came_in_order = of.has_barrier && of.first.launched <= of.barrier.launched &&
                             of.barrier.launched <= kernel.launched;
  auto const is_another_stream =
      of.has_first && of.first.stream != kernel.stream && of.first.context == kernel.context;
  auto const right_behind = of.has_barrier && of.barrier.start >= of.first.end &&
                            kernel.start >= of.barrier.end &&
                            kernel.start.value - of.barrier.end.value <= pause;
  auto const ready = std::max<std::uint64_t>(
      kernel.launched.value + static_cast<std::uint64_t>(run.usual_delay), of.first.start.value);
  if (came_in_order && is_another_stream && right_behind && kernel.launched.value != 0 &&
      ready < of.first.end.value) {
    auto& sum = sums_[kernel.device];
    ++sum.count;
    auto const waited = static_cast<double>(kernel.start.value - ready);
    sum.waited_ns += waited;
    if (fits_beside_ && fits_beside_(kernel.device, of.first.subject, kernel.subject))
      sum.overlap_ns += std::min(
          waited, static_cast<double>(std::min(nanoseconds_of(of.first), nanoseconds_of(kernel)) +
                                      nanoseconds_of(of.barrier)));
    sum.ranges.add(range, waited);
  }
  of.first = kernel;
  of.has_first = true;
  of.has_barrier = false;
}

}  // namespace gpuprof::host
