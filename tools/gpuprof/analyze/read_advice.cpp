// SPDX-License-Identifier: Apache-2.0
#include "analyze/read_advice.hpp"

#include "analyze/capture_advice.hpp"
#include "analyze/step_reading.hpp"
#include "host/advice/facts.hpp"
#include "host/analysis/ranks/collective_waits.hpp"
#include "host/analysis/timeline/time_bucket.hpp"
#include "host/report/ledger_table.hpp"
#include "ranks/capture_set.hpp"
#include "ranks/rank_digest.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::host::command {
namespace {

/// Removes collectives outside of the time that all ranks are looked at.
void keep_within(std::vector<collective_meeting>& meetings, std::span<time_stretch const> parts,
                 clock_offsets const& clocks) {
  auto begin = std::numeric_limits<std::int64_t>::min();
  auto end = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].begin.value == 0) continue;  // the whole run
    begin = std::max(begin, static_cast<std::int64_t>(parts[i].begin.value) - clocks.of_rank[i]);
    end = std::min(end, static_cast<std::int64_t>(parts[i].end.value) - clocks.of_rank[i]);
  }
  std::erase_if(meetings, [&](collective_meeting const& one) {
    return one.median_start < begin || one.last_start > end;
  });
}

/// Computes how late each rank of a job comes to its collectives.
///
/// Takes a digest of each capture, in the same order, with names of style `base`, and the part of
/// each run that is looked at. `step_ns` is the time of a step; 0: not known. Returns nothing if no
/// collective was matched.
std::vector<advice::rank_facts> late_ranks(std::span<ranked_capture const> captures,
                                           std::span<rank_digest const> digests,
                                           std::span<time_stretch const> parts, double step_ns) {
  auto const all = collectives_of(captures, digests, kernel_name_style::base);
  std::vector<collective_meeting> meetings;
  collective_waits(all.of_rank, all.clocks, all.tolerance_ns, &meetings);
  keep_within(meetings, parts, all.clocks);
  std::vector<advice::rank_facts> facts;
  if (meetings.empty()) return facts;
  auto const lateness = lateness_of(meetings, captures.size(), step_ns);
  for (std::size_t i = 0; i < captures.size(); ++i)
    facts.push_back({.rank = captures[i].rank.value_or(static_cast<std::uint32_t>(i)),
                     .host = captures[i].host,
                     .collectives = lateness[i].collectives,
                     .last_in = lateness[i].last_in,
                     .steps = lateness[i].steps,
                     .late_steps = lateness[i].late_steps,
                     .late_ns = lateness[i].late_ns});
  return facts;
}

using report::advice_report;

/// Combines the ranks of a job.
class joined_reading {
 public:
  explicit joined_reading(advice_inputs const& inputs) : inputs_(inputs) {}

  void add(capture_advice made, ranked_capture const& capture) {
    heading_.add(made.overview, capture);
    if (!made.failure.message.empty()) {
      report_.remarks.push_back("rank " + capture.label + " was left out: " + made.failure.message);
      return;
    }
    for (auto const& remark : made.remarks) remarks_.add(remark, capture.label);
    if (made.part) remarks_.add(report::part_line(*made.part), capture.label);
    if (!made.one_step.empty()) remarks_.add(made.one_step, capture.label);
    report_.whole = advice_.empty() || report_.whole == made.whole() ? made.whole() : "run";
    report_.window_ns = std::max(report_.window_ns, made.facts.window_ns);
    report_.all_windows_ns += made.advice.all_windows_ns;
    report_.best_case_ns += made.advice.given.best_case_ns;
    report_.ranks.push_back({capture.label, capture.path, made.facts.window_ns,
                             made.advice.given.holds, std::move(made.costs)});
    report::ledger_line line;
    line.label = capture.label;
    line.rank = capture.label;
    for (auto& gpu : made.time.gpus) {
      line.times += gpu.times;
      report_.time.gpus.push_back(std::move(gpu));
    }
    report_.time.ranks.push_back(std::move(line));
    step_ns_ = std::max(step_ns_, median_of(made.facts.steps.period_ns));
    for (auto& device : made.facts.devices) all_.devices.push_back(std::move(device));
    advice_.push_back(std::move(made.advice));
    captures_.push_back(capture);
    digests_.push_back(std::move(made.digest));
    parts_.push_back(made.looked_at);
  }

  bool empty() const noexcept { return advice_.empty(); }

  advice_report finish() {
    report_.heading = heading_.lines();
    report_.holds = advice::bottleneck_of(all_);
    report_.min_gain = inputs_.rules.min_gain;
    for (auto& line : remarks_.lines(advice_.size())) report_.remarks.push_back(std::move(line));
    report_.advice = advice::join(advice_);
    look_at_late_ranks();
    return std::move(report_);
  }

 private:
  static constexpr std::string_view rule_over_ranks = "late_rank";

  /// Applies the only rule that looks at all ranks: without a late rank, the others would not wait
  /// for it.
  void look_at_late_ranks() {
    auto& joined = report_.advice;
    auto const is_of_it = [](auto const& one) { return one.of->name == rule_over_ranks; };
    auto const asked = std::find_if(joined.missing.begin(), joined.missing.end(), is_of_it);
    if (asked == joined.missing.end()) return;  // the rule was skipped
    all_.window_ns = report_.window_ns;
    if (step_ns_ <= 0) {
      asked->how = "an NVTX range that repeats, such as one around each step";
      return;
    }
    all_.ranks = late_ranks(captures_, digests_, parts_, step_ns_);
    if (all_.ranks.empty()) {
      asked->how = "captures of ranks that take part in the same collectives";
      return;
    }
    joined.missing.erase(asked);
    all_.there = advice::data::kernels | advice::data::several_ranks;
    advice::advice_options options{.only = {std::string(rule_over_ranks)}, .skipped = {}};
    options.min_gain = 0;
    for (auto& one : advice::give_advice(all_, options).findings) add_late(std::move(one));
  }
  void add_late(advice::finding one) {
    auto const share = [&](double ns) { return ns / report_.window_ns; };
    advice::joined_finding late{.one = one,
                                .ns = {one.gain.low_ns, one.gain.high_ns},
                                .share = {share(one.gain.low_ns), share(one.gain.high_ns)},
                                .ranks = {}};
    for (std::size_t i = 0; i < advice_.size(); ++i) {
      if (one.what.starts_with("rank " + captures_[i].label + " ")) continue;  // late itself
      auto gain = one.gain;  // a rank cannot wait for longer than it communicates
      gain.high_ns =
          std::min(gain.high_ns, report_.time.ranks[i].times[time_bucket::communication]);
      late.ranks.push_back({advice_[i].rank, one.instances, gain, advice_[i].all_windows_ns});
    }
    auto& to = late.share.high >= inputs_.rules.min_gain ? report_.advice.findings
                                                         : report_.advice.too_small;
    auto const saved = [](advice::joined_finding const& joined) {
      double ns = 0;
      for (auto const& rank : joined.ranks) ns += rank.gain.high_ns;
      return ns;
    };
    auto const at = std::find_if(to.begin(), to.end(),
                                 [&](auto const& other) { return saved(other) < saved(late); });
    to.insert(at, std::move(late));
  }

  advice_inputs const& inputs_;
  advice_report report_;
  advice::run_facts all_;
  joined_heading heading_;
  rank_remarks remarks_;
  std::vector<advice::advice_of_rank> advice_;
  std::vector<ranked_capture> captures_;  // captures that could be read
  std::vector<rank_digest> digests_;
  std::vector<time_stretch> parts_;
  double step_ns_ = 0;
};

advice_outcome read_ranks(advice_inputs const& inputs) {
  auto const set = read_capture_set(inputs.captures);
  if (!set) return {std::nullopt, {set.message(), false}};
  joined_reading joined(inputs);
  advice_failure first;
  for (auto const& capture : set->captures) {
    auto made = read_capture(capture.path, capture.label, inputs);
    if (made.failure.wrong_options) return {std::nullopt, made.failure};
    if (first.message.empty()) first = made.failure;
    joined.add(std::move(made), capture);
  }
  if (joined.empty()) return {std::nullopt, first};
  auto report = joined.finish();
  report.remarks.insert(report.remarks.begin(), set->remarks.begin(), set->remarks.end());
  return {std::move(report), {}};
}

}  // namespace

advice_outcome read_advice(advice_inputs const& inputs) {
  advice_outcome outcome;
  if (inputs.captures.size() > 1) {
    outcome = read_ranks(inputs);
  } else {
    auto made = read_capture(inputs.captures.front(), {}, inputs);
    if (!made.failure.message.empty()) return {std::nullopt, made.failure};
    outcome.made = report_of_one(std::move(made), inputs);
  }
  if (auto line = filters_line(inputs.filters); outcome.made && !line.empty())
    outcome.made->heading.insert(outcome.made->heading.begin() + 1, std::move(line));
  return outcome;
}

}  // namespace gpuprof::host::command
