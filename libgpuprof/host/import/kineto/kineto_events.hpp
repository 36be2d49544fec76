// SPDX-License-Identifier: Apache-2.0
// Turns events of torch.profiler's traces into records.
#pragma once

#include "host/import/imported_process.hpp"
#include "host/import/kineto/trace_event.hpp"
#include "host/import/narrow_ids.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

namespace gpuprof::host {

class kineto_events {
 public:
  /// `cpu_ops`: operators become ranges too.
  kineto_events(imported_process& to, bool cpu_ops) : to_(to), cpu_ops_(cpu_ops) {}

  void take(trace_event const& event);
  /// Call it after the last event; adds what is known only then.
  void finish();
  /// Call it if gpuprof export wrote the trace: it has marks of its own, and the facts say which
  /// calls were recorded.
  void is_of_gpuprof() noexcept { is_of_gpuprof_ = true; }

  /// True if the trace uses an AMD GPU.
  bool uses_hip() const noexcept { return uses_hip_; }
  std::uint64_t taken() const noexcept { return taken_; }
  /// Events that captures cannot hold, by category.
  std::map<std::string, std::uint64_t> const& left_out() const noexcept { return left_out_; }
  std::map<std::int64_t, std::uint64_t> const& processes() const noexcept { return processes_; }

 private:
  using taker = void (kineto_events::*)(trace_event const&);
  taker taker_of(std::string const& category) const;

  void take_kernel(trace_event const& event);
  void take_copy(trace_event const& event);
  void take_fill(trace_event const& event);
  void take_graph(trace_event const& event);
  void take_call(trace_event const& event);
  void take_annotation(trace_event const& event);
  void take_operator(trace_event const& event);
  void take_wait(trace_event const& event);
  void take_span(trace_event const& event);
  void take_mark(trace_event const& event);
  void take_metadata(trace_event const& event);

  void add_range(trace_event const& event, name_id name, name_id domain);
  template <class Record>
  void take_common(trace_event const& event, Record& record);
  /// Returns the thread's number in the capture: its own, unless it does not fit into 32 bits or a
  /// thread of another process has it.
  std::uint32_t os_thread_of(trace_event const& event);
  correlation_id correlation_of(trace_event const& event) {
    return to_.correlation(event.correlation.value_or(0));
  }
  /// Returns false if times are missing, and counts one of `what` ("kernels") as lost.
  bool has_times(trace_event const& event, char const* what);

  imported_process& to_;
  bool const cpu_ops_;
  std::uint64_t taken_ = 0;
  bool uses_hip_ = false, is_of_gpuprof_ = false;
  std::uint64_t made_calls_ = 0, recorded_launches_ = 0;
  std::map<std::string, std::uint64_t> left_out_;
  std::map<std::int64_t, std::uint64_t> processes_;  // number of CPU events by process
  /// By process, and text or number.
  narrow_ids<std::tuple<std::int64_t, std::string, std::int64_t>> threads_;
  struct thread_label {
    trace_event event;
    name_id name;
  };
  std::vector<thread_label> thread_labels_;
};

}  // namespace gpuprof::host
