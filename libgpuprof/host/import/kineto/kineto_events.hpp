// SPDX-License-Identifier: Apache-2.0
// Turns events of torch.profiler's traces into records.
#pragma once

#include "host/import/imported_process.hpp"
#include "host/import/kineto/trace_event.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

namespace gpuprof {

class kineto_events {
 public:
  /// `cpu_ops`: operators become ranges too.
  kineto_events(imported_process& to, bool cpu_ops) : to_(to), cpu_ops_(cpu_ops) {}

  void take(trace_event const& event);
  /// After the last one: what is known only then.
  void finish();

  std::uint64_t taken() const noexcept { return taken_; }
  /// Events that no capture has a place for, by category.
  std::map<std::string, std::uint64_t> const& left_out() const noexcept { return left_out_; }
  std::map<std::int64_t, std::uint64_t> const& processes() const noexcept { return processes_; }

 private:
  using taker = void (kineto_events::*)(trace_event const&);
  taker taker_of(std::string const& category) const;

  void take_kernel(trace_event const& event);
  void take_copy(trace_event const& event);
  void take_fill(trace_event const& event);
  void take_call(trace_event const& event);
  void take_annotation(trace_event const& event);
  void take_operator(trace_event const& event);
  void take_wait(trace_event const& event);
  void take_metadata(trace_event const& event);

  void add_range(trace_event const& event, name_id domain);
  /// Of the process; texts get numbers that no thread of a system has.
  std::uint32_t os_thread_of(trace_event const& event);
  bool has_times(trace_event const& event, char const* lost);

  imported_process& to_;
  bool const cpu_ops_;
  std::uint64_t taken_ = 0;
  std::map<std::string, std::uint64_t> left_out_;
  std::map<std::int64_t, std::uint64_t> processes_;  // that events of the CPU are of
  std::unordered_map<std::string, std::uint32_t> text_threads_;
  struct thread_label {
    std::int64_t process;
    std::uint32_t thread;
    name_id name;
  };
  std::vector<thread_label> thread_labels_;
};

}  // namespace gpuprof
