// SPDX-License-Identifier: Apache-2.0
#include "made_machine.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace gpuprof::host::replay {
namespace {

std::uint32_t index_of(std::vector<std::string>& names, std::string const& name) {
  auto const known = std::find(names.begin(), names.end(), name);
  if (known == names.end()) names.push_back(name);
  return static_cast<std::uint32_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

class one_run {
 public:
  explicit one_run(made_machine const& machine) : machine_(machine) {}

  void do_step(std::vector<act> const& acts) {
    begin_step();
    for (auto const& one : acts) perform(one);
    end_step();
  }

  void begin_step() { began_ = now_; }
  void end_step() {
    made.ranges.push_back({began_, now_, 0, 0, nothing, true});
    made.end_ns = now_;
    ++made.steps;
  }

  /// Performs acts from `next` on. Returns when the part of a collective begins; nothing: the step
  /// is over.
  std::optional<std::int64_t> go_on(std::vector<act> const& acts, std::size_t& next) {
    while (next < acts.size()) {
      auto const& one = acts[next++];
      perform(one);
      if (one.is == act::what::meet) return made.items.back().start_ns;
    }
    return std::nullopt;
  }
  void end_meeting(std::int64_t end_ns) {
    auto& item = made.items.back();
    item.end_ns = ends_.back() = end_of_[item.stream] = end_ns;
  }

  recorded_steps made;

 private:
  void perform(act const& one) {
    switch (one.is) {
      case act::what::work:
        now_ += one.ns;
        return;
      case act::what::kernel:
      case act::what::copy:
      case act::what::meet:
        return launch(one);
      case act::what::wait:
        return wait_for_all(one.name);
      case act::what::hold:
        made.holds.push_back({now_, now_ + one.ns});
        now_ += one.ns;
        return;
      case act::what::event:
        event_ns_ = end_of_[one.stream];
        return;
      case act::what::wait_for_event:
        waits_until_[one.stream] = event_ns_;
        return;
    }
  }

  void launch(act const& one) {
    if (ends_.size() >= machine_.queue) now_ = std::max(now_, ends_[ends_.size() - machine_.queue]);
    recorded_item item;
    item.launched_ns = now_;
    item.start_ns = now_ + machine_.latency_ns;
    if (end_of_.count(one.stream) != 0)
      item.start_ns = std::max(item.start_ns, end_of_[one.stream] + machine_.pause_ns);
    if (waits_until_.count(one.stream) != 0) {
      item.start_ns = std::max(item.start_ns, waits_until_[one.stream] + machine_.pause_ns);
      waits_until_.erase(one.stream);
    }
    item.end_ns = item.start_ns + one.ns;
    item.stream = one.stream;
    item.kind = one.is == act::what::copy ? work_kind::copy : work_kind::kernel;
    item.name = index_of(made.work_names, one.name);
    item.is_pageable = one.is_pageable;
    item.bytes = one.is == act::what::copy ? static_cast<std::uint64_t>(one.ns) * 10 : 0;
    end_of_[one.stream] = item.end_ns;
    ends_.push_back(item.end_ns);
    made.items.push_back(item);
    now_ += machine_.launch_ns;
    if (one.is_pageable) now_ = std::max(now_, item.end_ns + machine_.return_ns);
  }

  void wait_for_all(std::string const& name) {
    recorded_call call;
    call.begin_ns = now_;
    call.kind = call_kind::synchronize;
    call.name = index_of(made.call_names, name);
    now_ += machine_.return_ns;
    for (auto const& [_, end] : end_of_)
      if (end > call.begin_ns) now_ = std::max(now_, end + machine_.return_ns);
    call.end_ns = now_;
    made.calls.push_back(call);
  }

  made_machine const& machine_;
  std::int64_t now_ = 0, event_ns_ = 0, began_ = 0;
  std::map<std::uint32_t, std::int64_t> end_of_, waits_until_;  // by stream
  std::vector<std::int64_t> ends_;
};

}  // namespace

recorded_steps record(std::vector<act> const& step, std::uint32_t steps,
                      made_machine const& machine) {
  return record_in_turn({step}, steps, machine);
}

recorded_steps record_in_turn(std::vector<std::vector<act>> const& kinds, std::uint32_t steps,
                              made_machine const& machine) {
  one_run run(machine);
  run.made.range_names = {"step"};
  for (std::uint32_t i = 0; i < steps; ++i) run.do_step(kinds[i % kinds.size()]);
  return std::move(run.made);
}

std::vector<recorded_steps> record_ranks(std::vector<std::vector<act>> const& ranks,
                                         std::uint32_t steps, made_machine const& machine) {
  std::vector<one_run> runs(ranks.size(), one_run(machine));
  for (auto& run : runs) run.made.range_names = {"step"};
  for (std::uint32_t i = 0; i < steps; ++i) {
    std::vector<std::size_t> next(ranks.size());
    for (auto& run : runs) run.begin_step();
    for (bool all_met = true; all_met;) {
      std::int64_t last = 0;
      for (std::size_t rank = 0; rank < runs.size(); ++rank) {
        auto const begins = runs[rank].go_on(ranks[rank], next[rank]);
        all_met = begins.has_value();
        if (begins) last = std::max(last, *begins);
      }
      if (!all_met) break;
      for (std::size_t rank = 0; rank < runs.size(); ++rank)
        runs[rank].end_meeting(last + ranks[rank][next[rank] - 1].ns);
    }
    for (auto& run : runs) run.end_step();
  }
  std::vector<recorded_steps> made;
  for (auto& run : runs) made.push_back(std::move(run.made));
  return made;
}

double true_step_ns(std::vector<std::vector<act>> const& ranks, std::uint32_t steps,
                    made_machine const& machine) {
  auto const made = record_ranks(ranks, steps, machine);
  auto end = made.front().end_ns;
  for (auto const& rank : made)
    for (auto const& item : rank.items) end = std::max(end, item.end_ns);
  return static_cast<double>(end) / steps;
}

double true_step_ns(std::vector<act> const& step, std::uint32_t steps,
                    made_machine const& machine) {
  auto const made = record(step, steps, machine);
  auto end = made.end_ns;
  for (auto const& item : made.items) end = std::max(end, item.end_ns);
  return static_cast<double>(end) / steps;
}

}  // namespace gpuprof::host::replay
