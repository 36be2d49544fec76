// SPDX-License-Identifier: Apache-2.0
#include "guest/recording/unrecorded_launches.hpp"

#include <algorithm>

namespace gpuprof::guest {
namespace {

constexpr duration_ns max_record_wait{10'000'000'000};
constexpr std::size_t max_patterns = 1 << 15;  // more signatures than are ever read in a capture

}  // namespace

void unrecorded_launches::add(launch_note const& launch) {
  newest_ = std::max(newest_, launch.time);
  waiting_.push_back(launch);
}

void unrecorded_launches::see(kernel_record const& kernel) {
  auto const found = patterns_.find(kernel.correlation);
  if (found == patterns_.end() || found->second) return;
  found->second = kernel;
  --awaited_;
}

std::vector<kernel_record> unrecorded_launches::take() {
  std::vector<kernel_record> made;
  std::erase_if(waiting_, [&](launch_note const& launch) {
    auto const pattern = patterns_.find(launch.alike);
    if (pattern == patterns_.end() || !pattern->second)
      return launch.time + max_record_wait < newest_;  // it gets no record, and is counted as lost
    auto& record = made.emplace_back(*pattern->second);
    record.time_of = launch.alike;
    record.correlation = launch.correlation;
    // The duration is unknown if the clock was set back in between.
    if (launch.ran_from < launch.ran_to)
      record.duration = std::min(record.duration, launch.ran_to - launch.ran_from);
    record.start = {launch.ran_to.value - static_cast<std::uint64_t>(record.duration.value)};
    return true;
  });
  if (patterns_.size() > max_patterns && waiting_.empty()) {
    patterns_.clear();
    awaited_ = 0;
  }
  return made;
}

}  // namespace gpuprof::guest
