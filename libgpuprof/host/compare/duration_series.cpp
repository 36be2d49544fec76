// SPDX-License-Identifier: Apache-2.0
#include "host/compare/duration_series.hpp"

#include <algorithm>
#include <utility>

namespace gpuprof::host::compare {

void duration_series::add(double ns) {
  ++count_;
  total_ += ns;
  if (limit_ > 0) {
    put(ns);
    return;
  }
  blocks_.push_back(ns);
  if (blocks_.size() == first_values) set_limit();
}

/// Then takes the values that it was found from, but the first: it warms up.
void duration_series::set_limit() {
  auto const first = std::exchange(blocks_, {});
  auto sorted = first;
  auto const at = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() * 9 / 10);
  std::nth_element(sorted.begin(), at, sorted.end());
  limit_ = std::max(1.0, clip_factor * *at);
  auto const skipped = first.size() > least_repetitions ? 1 : 0;
  for (auto value = first.begin() + skipped; value != first.end(); ++value) put(*value);
}

void duration_series::put(double ns) {
  clipped_ += ns > limit_;
  open_sum_ += std::min(ns, limit_);
  if (++in_open_ < block_length_) return;
  blocks_.push_back(open_sum_);
  open_sum_ = 0;
  in_open_ = 0;
  if (blocks_.size() < max_blocks) return;
  for (std::size_t i = 0; i < max_blocks / 2; ++i) blocks_[i] = blocks_[2 * i] + blocks_[2 * i + 1];
  blocks_.resize(max_blocks / 2);
  block_length_ *= 2;
}

void duration_series::finish() {
  if (limit_ == 0 && !blocks_.empty()) set_limit();
  for (auto& sum : blocks_) sum /= block_length_;
}

}  // namespace gpuprof::host::compare
