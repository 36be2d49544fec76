// SPDX-License-Identifier: Apache-2.0
// What the CPU did while a GPU had nothing to do: the looks at the thread that launched what came
// next, as far as they fall into the time without work.
#pragma once

#include "model/records.hpp"

#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

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
  /// `os_thread_of`: the system's number of a thread.
  explicit idle_causes(std::function<std::uint32_t(thread_index)> os_thread_of)
      : os_thread_of_(std::move(os_thread_of)) {}

  // Give it everything in order of time.
  void add(thread_sample_record const& row);
  void add(api_record const& call);
  /// Work of a GPU.
  template <class Work>
  void add(Work const& work) {
    add_work(work.device, work.thread, work.start, work.start + work.duration);
  }

  struct key {
    idle_cause cause{};
    stack_id stack{};
    stack_id holder{};  // of the GIL
    name_id call{};     // of CUDA
    auto operator<=>(key const&) const = default;
  };
  /// Looks that fell into idle time, a part of one where a thread ran and wanted a core between two
  /// looks.
  std::map<key, double> const& looks() const noexcept { return looks_; }
  double all_looks() const noexcept { return all_looks_; }
  /// The time between work of one GPU, added up over GPUs.
  double idle_ns() const noexcept { return idle_ns_; }

 private:
  struct thread_state {
    std::deque<thread_sample_record> rows;
    std::deque<api_record> calls;
  };

  void add_work(device_id device, thread_index launched_by, timestamp_ns start, timestamp_ns end);
  void take(thread_state& thread, timestamp_ns from, timestamp_ns to);
  void forget(timestamp_ns before);

  std::function<std::uint32_t(thread_index)> os_thread_of_;
  std::unordered_map<std::uint32_t, thread_state> threads_;
  std::unordered_map<device_id, timestamp_ns> busy_until_;
  std::map<key, double> looks_;
  double all_looks_ = 0, idle_ns_ = 0;
};

}  // namespace gpuprof::host
