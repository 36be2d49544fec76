// SPDX-License-Identifier: Apache-2.0
#include "replay/cupti/sample_buffer.hpp"

#include <algorithm>
#include <limits>

namespace gpuprof::replay {

void sample_buffer::start(setup const& wanted, std::uint64_t now) {
  setup_ = wanted;
  began_ = now;
  stopped_ = std::numeric_limits<std::uint64_t>::max();
  next_ = 0;
  failed_ = false;
}

std::uint64_t sample_buffer::taken(std::uint64_t by) const {
  auto const until = std::min(by, stopped_);
  return until > began_ ? (until - began_) / setup_.interval : 0;
}

bool sample_buffer::run_over(std::uint64_t now, bool forced) {
  auto const all = taken(now);
  auto const held = all - next_;
  if (!failed_ && held <= setup_.max_samples && !forced) return false;
  failed_ = setup_.keeps_oldest;
  if (failed_) return true;
  if (forced) next_ += (held + 1) / 2;
  if (all - next_ > setup_.max_samples) next_ = all - setup_.max_samples;
  return true;
}

sample_buffer::samples sample_buffer::take(std::size_t most, std::uint64_t by) {
  if (!holds_more(by)) return {next_, 0};
  samples const given{next_, std::min<std::uint64_t>(most, taken(by) - next_)};
  next_ += given.count;
  return given;
}

}  // namespace gpuprof::replay
