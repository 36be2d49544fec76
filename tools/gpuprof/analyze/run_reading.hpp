// SPDX-License-Identifier: Apache-2.0
// Reads the facts of a capture for the rules, and its time ledger.
#pragma once

#include "analyze/pace_reading.hpp"
#include "analyze/program_lines.hpp"
#include "analyze/steady_part.hpp"
#include "host/advice/facts.hpp"
#include "host/analysis/declared_launches.hpp"
#include "host/analysis/selection.hpp"
#include "host/analysis/timeline/timeline_pass.hpp"
#include "host/export/traced_path.hpp"
#include "host/reading/roofline_reading.hpp"
#include "host/reading/trace_contents.hpp"
#include "whatif/step_collector.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::host::command {

struct step_time {
  timestamp_ns begin, end;
  double period_ns = 0;  // to the beginning of the next step, without the profiler's own time
};

/// All steps of a run, in order of their beginning.
struct step_times {
  std::string name;
  std::vector<step_time> all;
  std::size_t warm_up = 0;  // so many at the beginning are warm-up
};

/// Called while a capture is read, with the data that a timeline shows: of the whole run, also if
/// only the steps are looked at.
struct timeline_listener {
  /// Called before the first gap. The periods are not yet exact.
  std::function<void(step_times const&)> ahead;
  idle_listener idle;
  std::function<void(step_times const&)> steps;
  /// Called if the steps can be replayed.
  std::function<void(std::vector<traced_path>)> paths;
};

/// Must not be moved after begin() or read().
class run_reading {
 public:
  /// GPU work and calls outside of `wanted` are ignored; null: all counts. `step_name` is the NVTX
  /// range that is a step; empty: it is found. `heard` may be null. Time outside of `phase` is
  /// ignored; empty: all counts. All arguments must outlive this object.
  run_reading(trace_contents& trace, selection const* wanted, std::string step_name,
              timeline_listener const* heard = nullptr, std::span<time_stretch const> phase = {});
  ~run_reading();
  run_reading(run_reading const&) = delete;
  run_reading& operator=(run_reading const&) = delete;

  /// Call before read() to collect what a replay goes through.
  void collect_steps(steps_question question) { question_ = std::move(question); }
  /// Call before read(): if there are steps, time outside of them and their warm-up is ignored.
  /// Also in a phase of one stretch.
  void look_at_steps_first() { steps_first_ = true; }
  /// Without these three, read() walks over the capture. Call them if there is another walk:
  /// begin(), then add() with the kernels of each block, then use() with the counters, which must
  /// cover all work on all GPUs, with peaks.
  void begin();
  void add(kernel_block block) { pace_reading_->add(std::move(block)); }
  void use(roofline_reading const& counters) { counters_ = &counters; }
  void read();
  /// After read(): the part of the run, or of the phase that was given, that counts. Nothing: all.
  std::optional<steady_part> const& part() const noexcept { return part_; }
  /// After read(): the times that count; empty: all of the run.
  std::vector<time_stretch> const& counted() const noexcept { return counted_; }
  /// After read(): captured time before and behind that part, in the phase if there is one.
  double before_ns() const noexcept { return before_ns_; }
  double behind_ns() const noexcept { return behind_ns_; }
  /// After read(): what was asked for with collect_steps(), or why there is none. Call once.
  result<steps_of_capture> collected_steps();

  /// After read(): names the Python lines of findings.
  program_lines const& lines() const noexcept { return lines_; }
  advice::run_facts const& facts() const noexcept { return facts_; }
  time_ledger const& ledger() const noexcept { return pass_->ledger(); }
  /// Limits of the answer, one per line.
  std::vector<std::string> const& remarks() const noexcept { return remarks_; }

 private:
  step_times all_steps() const;
  bool may_have_part() const noexcept;
  void walk();
  void finish_pace();
  void go_through_time();
  void take_devices();
  void choose_steps_to_collect();
  void take_ledgers();
  std::vector<time_stretch> all_windows() const;
  std::vector<time_stretch> windows_in(std::span<time_stretch const> phase) const;
  void note_what_is_left_out();
  void choose_part();
  void choose_part_without_steps(timestamp_ns last_end);
  void end_part_with_its_work(timestamp_ns end);
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
  step_ranges whole_steps_;  // those of the whole run
  std::size_t warm_up_steps_ = 0;
  std::optional<pace_reading> pace_reading_;
  pace pace_;
  timestamp_ns tenth_launched_{};  // launch of the last of the first tenth; 0: not known
  bool has_calls_ = false, has_all_calls_ = false;
  std::optional<declared_launches> declared_;
  std::optional<timeline_pass> pass_;
  std::unique_ptr<roofline_reading> own_counters_;
  roofline_reading const* counters_ = nullptr;
  std::span<time_stretch const> phase_;
  std::span<time_stretch const> whole_phase_;  // that was given, if only its steps count
  bool steps_first_ = false;
  std::optional<steady_part> part_;
  time_stretches own_phase_;  // that part
  time_stretches counted_;    // what lies in the windows of the phase; empty: all counts
  double before_ns_ = 0, behind_ns_ = 0;
  std::optional<steps_question> question_;
  sampled_launches launches_;
  std::unique_ptr<step_collector> collector_;
  std::string why_no_steps_;
  advice::run_facts facts_;
  std::vector<std::string> remarks_;
  program_lines lines_;
};

}  // namespace gpuprof::host::command
