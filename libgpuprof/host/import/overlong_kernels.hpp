// SPDX-License-Identifier: Apache-2.0
// Finds kernels that seem to run until several later ones of their stream have ended. Work on a
// stream runs in sequence, so the recorded ends of these kernels are wrong.
#pragma once

#include "model/records.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <tuple>

namespace gpuprof::host {

class overlong_kernels {
 public:
  /// Takes kernels in order of their starts. take(kernel, is_overlong) gets them in the same order,
  /// as soon as no further kernel can lie inside them.
  template <class Take>
  void add(kernel_record const& kernel, Take take) {
    while (!waiting_.empty() &&
           (end_of(waiting_.front().kernel) <= kernel.start || waiting_.size() >= max_waiting))
      take_first(take);
    note(kernel);
    waiting_.push_back({kernel, 0});
  }
  template <class Take>
  void finish(Take take) {
    while (!waiting_.empty()) take_first(take);
  }

 private:
  static constexpr std::size_t max_waiting = 1 << 16;
  /// A single kernel inside may be due to imprecise clocks.
  static constexpr std::uint32_t too_many = 2;
  struct waiting {
    kernel_record kernel;
    std::uint32_t inside = 0;
  };

  static timestamp_ns end_of(kernel_record const& kernel) noexcept {
    return kernel.start + kernel.duration;
  }
  /// Kernels of a graph run at the same time. If the graph is not recorded, they still share the
  /// call that launched it.
  static bool are_of_one_graph(kernel_record const& one, kernel_record const& other) noexcept {
    return raw(one.graph) != 0 || raw(other.graph) != 0 || one.correlation == other.correlation;
  }
  void note(kernel_record const& kernel) {
    auto const stream = std::tuple(kernel.device, kernel.context, kernel.stream);
    auto const next = first_ + waiting_.size();
    auto const [at, is_new] = last_to_end_.try_emplace(stream, next);
    auto& last = at->second;
    if (is_new || last < first_) {  // it was already taken
      last = next;
      return;
    }
    auto& around = waiting_[last - first_];
    if (end_of(around.kernel) < end_of(kernel))
      last = next;
    else if (around.kernel.start < kernel.start && !are_of_one_graph(around.kernel, kernel))
      ++around.inside;
  }
  template <class Take>
  void take_first(Take take) {
    auto const one = waiting_.front();
    waiting_.pop_front();
    ++first_;
    take(one.kernel, one.inside >= too_many);
  }

  std::deque<waiting> waiting_;
  std::uint64_t first_ = 0;  // number of the first waiting kernel
  std::map<std::tuple<device_id, context_id, stream_id>, std::uint64_t> last_to_end_;  // kernels
};

}  // namespace gpuprof::host
