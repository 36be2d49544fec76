// SPDX-License-Identifier: Apache-2.0
// Classifies calls of the CUDA API by their effect on the calling thread, and keeps the recent
// calls of each thread.
#pragma once

#include "host/analysis/timeline/recent_map.hpp"
#include "model/records.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <string_view>

namespace gpuprof::host {

enum class call_kind : std::uint8_t {
  other,
  launch,         // kernels, asynchronous copies and fills, graphs
  synchronize,    // waits for a stream, an event or a context
  blocking_copy,  // returns when the copy is done
  allocate,       // also frees and registers memory
  load_module,
  build_graph,
};
inline constexpr std::size_t call_kind_count = static_cast<std::size_t>(call_kind::build_graph) + 1;

/// Takes the name with or without CUPTI's version suffix: "cudaMemcpy_v3020", "cuMemAlloc_v2".
call_kind kind_of_call(std::string_view name) noexcept;
/// Returns true if the program waits for the GPU in this call.
inline bool is_wait(call_kind kind) noexcept {
  return kind == call_kind::synchronize || kind == call_kind::blocking_copy;
}
/// Returns true for calls that copy or fill memory.
bool copies_memory(std::string_view name) noexcept;
/// Returns true for calls that wait for all work of the device or context: "cudaDeviceSynchronize".
bool waits_for_whole_device(std::string_view name) noexcept;

struct host_call {
  timestamp_ns begin, end;
  name_id name{};
  call_kind kind{};
  bool copies = false;
  timestamp_ns reach{};  // latest end of all calls so far; calls may be nested
};

/// The caller must add calls in order of start. Keeps the calls of each thread that may still
/// matter.
class recent_calls {
 public:
  void add(thread_index thread, host_call const& call) {
    if (call.kind == call_kind::other) return;
    auto& calls = threads_[thread];
    if (calls.size() == limit) calls.pop_front();
    auto const before = calls.empty() ? timestamp_ns{} : calls.back().reach;
    calls.push_back(call);
    calls.back().reach = std::max(before, call.end);
  }
  /// Returns true for the driver call inside a runtime call: both records are one call of the
  /// program. Other calls may come between: cudaMalloc loads modules first, then calls cuMemAlloc.
  bool lies_in_one_of_its_kind(thread_index thread, host_call const& call) const {
    auto const& calls = of(thread);
    for (auto outer = calls.rbegin(); outer != calls.rend() && call.end <= outer->reach; ++outer)
      if (outer->kind == call.kind && call.end <= outer->end) return true;
    return false;
  }
  /// Drops calls that ended before `moment`. No later query may ask for earlier times.
  void forget_before(thread_index thread, timestamp_ns moment) {
    auto* const calls = threads_.find(thread);
    if (calls == nullptr) return;
    while (calls->size() > kept && calls->front().end < moment) calls->pop_front();
  }
  std::deque<host_call> const& of(thread_index thread) const {
    auto const* const calls = threads_.find(thread);
    return calls == nullptr ? none_ : *calls;
  }

 private:
  static constexpr std::size_t limit = 1 << 16, kept = 64;
  recent_map<thread_index, std::deque<host_call>> threads_;
  std::deque<host_call> none_;  // for threads without calls
};

}  // namespace gpuprof::host
