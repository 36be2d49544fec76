// SPDX-License-Identifier: Apache-2.0
// Sorts a recording into what each thread of the program does, in order.
#pragma once

#include "replay/format/recording.hpp"

#include <cstdint>
#include <vector>

namespace gpuprof::replay {

/// One thing a thread does: makes a recorded call (`event` is set), or causes activity records that
/// belong to none of the recorded calls.
struct action {
  std::uint64_t time = 0;
  event const* what = nullptr;
  std::uint64_t entered = 0;           // at the exit of a call: the recorded time of its entry
  std::vector<std::size_t> records{};  // at the exit of a call: what it caused; index of a record
};

struct timeline {
  std::uint64_t begin = 0, end = 0;          // recorded times of the first and last action
  std::vector<std::vector<action>> threads;  // [0] is the program's main thread
  std::vector<std::size_t> record_offset;    // where each record lies in recording::records.bytes
  std::uint32_t max_correlation = 0;         // highest correlation id
};

/// Adds to `r` a graph-level record for each graph launch that has only records of its nodes, so
/// that both ways of graph tracing can be replayed. The actions point into `r`.
timeline make_timeline(recording& r);

}  // namespace gpuprof::replay
