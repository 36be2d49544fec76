// SPDX-License-Identifier: Apache-2.0
// Counts what the CPU did while a GPU had nothing to do: the looks at the thread that launched what
// came next, and at child processes, as far as they fall into the time without work.
#pragma once

#include "host/analysis/timeline/time_bucket.hpp"
#include "model/records.hpp"

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <string_view>
#include <unordered_map>

namespace gpuprof::host {

/// cpu_state and what the reader knows beyond it.
enum class idle_cause : std::uint8_t {
  running = 0,
  gil = 1,
  lock = 2,
  sleeping = 3,
  input = 4,
  file = 5,
  child = 6,
  other = 7,
  no_core = 8,   // it could have run, but all cores were taken
  cuda_call = 9  // it waited in a call of CUDA
};

/// "runs", "waits for the GIL", ...
std::string_view words_of(idle_cause cause) noexcept;

class idle_causes {
 public:
  // Give it rows and calls in order of time, and idle time after all rows that begin in it.
  void add(thread_sample_record const& row);
  void add(api_record const& call);
  /// `launched_by`: the thread that launched what the GPU did next. For each GPU in order of time.
  void idle(device_id device, time_bucket bucket, std::uint32_t launched_by, timestamp_ns from,
            timestamp_ns to);

  struct key {
    time_bucket bucket{};
    idle_cause cause{};
    stack_id stack{};
    stack_id holder{};  // of the GIL
    name_id call{};     // of CUDA
    auto operator<=>(key const&) const = default;
  };
  /// Looks that fell into idle time, a part of one where a thread ran and wanted a core between two
  /// looks.
  struct looks_sum {
    std::map<key, double> by_key;
    double all = 0;
  };
  looks_sum const& looks() const noexcept { return looks_; }
  /// At the main threads of child processes, without those that are hardly ever on a core.
  looks_sum const& looks_at_children() const noexcept { return at_children_; }
  std::size_t children() const noexcept;
  /// The idle time, added up over GPUs.
  double idle_ns() const noexcept { return idle_ns_; }

 private:
  struct thread_state {
    std::deque<thread_sample_record> rows;
    std::deque<api_record> calls;
  };

  struct child_state : thread_state {
    timestamp_ns first;
    std::uint64_t on_core_ns = 0;  // in the rows so far
    bool has_counted = false;
    bool works(timestamp_ns until) const noexcept;
  };

  static void take(time_bucket bucket, thread_state& thread, timestamp_ns from, timestamp_ns to,
                   looks_sum& into);
  void forget(thread_state& thread, timestamp_ns before) const;

  std::unordered_map<std::uint32_t, thread_state> threads_;
  std::unordered_map<std::uint32_t, child_state> children_;
  std::unordered_map<device_id, timestamp_ns> idle_until_;
  looks_sum looks_, at_children_;
  double idle_ns_ = 0;
};

/// The time between work of each GPU, for work in order of time.
class work_gaps {
 public:
  /// Calls use(from, to) if the GPU had nothing to do before this work.
  template <class Work, class Use>
  void add(Work const& work, Use const& use) {
    auto const end = work.start + work.duration;
    auto const [place, is_first] = busy_until_.try_emplace(work.device, end);
    if (is_first) return;
    if (work.start > place->second) use(place->second, work.start);
    if (end > place->second) place->second = end;
  }

 private:
  std::unordered_map<device_id, timestamp_ns> busy_until_;
};

}  // namespace gpuprof::host
