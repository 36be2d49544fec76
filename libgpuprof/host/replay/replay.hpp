// SPDX-License-Identifier: Apache-2.0
// Replays recorded steps with an edit, and computes when everything would happen.
#pragma once

#include "host/replay/step_edit.hpp"

#include <cstdint>
#include <vector>

namespace gpuprof::host::replay {

/// The reason why an item could not begin, or a point could not happen, earlier.
enum class constraint : std::uint8_t {
  begin,   // nothing: the first of all
  lane,    // the point before it in its lane
  launch,  // the point that launched it
  stream,  // the item before it in its stream
  other,   // an item of another stream
  queue,   // the item whose end made room in the queue
  wait,    // the item that a call waited for
  hold,    // the copy from or to pageable memory
  step,    // the begin of the step, in another lane
};

struct replayed_moment {
  constraint by{};
  std::uint32_t from = nothing;  // the point or item that it names
  std::int64_t begin_ns = 0, end_ns = 0;
  /// Parts of a collective: the part of another rank that began last.
  std::uint32_t waited_for = nothing;
};

struct replayed_steps {
  std::vector<replayed_moment> items;   // an item that is gone: all 0
  std::vector<replayed_moment> points;  // begin: before its call, end: after it; likewise
  std::int64_t begin_ns = 0;            // what was launched before the first step has ended
  std::int64_t end_ns = 0;
  std::uint32_t last_item = nothing, last_point = nothing;  // one of them ended last

  double total_ns() const noexcept { return static_cast<double>(end_ns - begin_ns); }
};

replayed_steps replay(step_edit const& edit);

/// Returns nanoseconds of a step.
double step_ns(step_edit const& edit);

}  // namespace gpuprof::host::replay
