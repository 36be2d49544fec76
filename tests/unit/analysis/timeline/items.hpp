// SPDX-License-Identifier: Apache-2.0
// GPU work with times in microseconds, for tests of the time ledger.
#pragma once

#include "host/analysis/timeline/gpu_item.hpp"

namespace gpuprof::test {
using namespace host;

inline timestamp_ns us(double microseconds) {
  return {1'000'000'000 + static_cast<std::uint64_t>(microseconds * 1000)};
}

/// On GPU 0, stream 7, launched by thread 1 a while before.
inline gpu_item work(double start, double end, double launched) {
  return {.start = us(start),
          .end = us(end),
          .launched = us(launched),
          .stream = stream_id{7},
          .context = context_id{1},
          .thread = static_cast<thread_index>(1),
          .kind = item_kind::compute,
          .subject = 1};
}
inline gpu_item work(double start, double end) {
  return work(start, end, start - 10);
}
inline gpu_item of_kind(gpu_item item, item_kind kind) {
  item.kind = kind;
  return item;
}

}  // namespace gpuprof::test
