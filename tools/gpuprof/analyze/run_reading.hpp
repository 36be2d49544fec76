// SPDX-License-Identifier: Apache-2.0
// Reads a capture into the facts that rules look at, and its time ledger.
#pragma once

#include "host/advice/facts.hpp"
#include "host/analysis/declared_launches.hpp"
#include "host/analysis/selection.hpp"
#include "host/analysis/timeline/timeline_pass.hpp"
#include "host/reading/roofline_reading.hpp"
#include "host/reading/trace_contents.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gpuprof::host::command {

struct step_time {
  timestamp_ns begin, end;
  double period_ns = 0;  // to the beginning of the next, without what this profiler took
};

/// Called while a capture is read, with what a timeline shows.
struct timeline_listener {
  /// Before the first gap: the steps in order of their beginning, whose periods are not exact yet.
  std::function<void(std::vector<step_time> const&)> ahead;
  idle_listener idle;
  std::function<void(std::string const& name, std::vector<step_time> const&)> steps;
};

/// Does not move once read.
class run_reading {
 public:
  /// `wanted`: GPU work and calls outside of it do not count; null: all does. `step_name`: the NVTX
  /// range that is a step; empty: it is found. `heard` may be null. `counters`: of all work
  /// on all GPUs, with peaks; null: this reads them itself. All outlive it.
  run_reading(trace_contents& trace, selection const* wanted, std::string step_name,
              timeline_listener const* heard = nullptr, roofline_reading const* counters = nullptr);
  ~run_reading();
  run_reading(run_reading const&) = delete;
  run_reading& operator=(run_reading const&) = delete;

  void read();

  advice::run_facts const& facts() const noexcept { return facts_; }
  time_ledger const& ledger() const noexcept { return pass_->ledger(); }
  /// What limits the answer, a line each.
  std::vector<std::string> const& remarks() const noexcept { return remarks_; }

 private:
  std::vector<step_time> steps(std::vector<double> const& periods_ns) const;
  void measure_pace();
  void go_through_time();
  void take_devices();
  void take_ledgers();
  void take_what_is_there();
  void take_migrations();
  void take_clock_limits();
  serialized_streams::fits room_for_both();
  void add_remarks();

  trace_contents& trace_;
  selection const* wanted_;
  std::string step_name_;
  timeline_listener const* heard_;
  step_ranges steps_;
  pace pace_;
  timestamp_ns tenth_launched_{};  // of the kernels; 0: not known
  bool has_calls_ = false, has_all_calls_ = false;
  std::optional<declared_launches> declared_;
  std::optional<timeline_pass> pass_;
  std::unique_ptr<roofline_reading> own_counters_;
  roofline_reading const* counters_;
  advice::run_facts facts_;
  std::vector<std::string> remarks_;
};

}  // namespace gpuprof::host::command
