// SPDX-License-Identifier: Apache-2.0
#include "analyze/read_advice.hpp"

#include "analyze/capture_advice.hpp"
#include "host/advice/facts.hpp"
#include "host/analysis/timeline/time_bucket.hpp"
#include "host/report/ledger_table.hpp"
#include "ranks/capture_set.hpp"
#include "ranks/rank_digest.hpp"
#include "whatif/read_ranks.hpp"
#include "whatif/replay_check.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::host::command {
namespace {

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
    has_steps_ &= !made.facts.steps.period_ns.empty();
    for (auto& device : made.facts.devices) all_.devices.push_back(std::move(device));
    advice_.push_back(std::move(made.advice));
    captures_.push_back(capture);
    digests_.push_back(std::move(made.digest));
    phases_.push_back(std::move(made.phase));
    counted_.push_back(std::move(made.counted));
  }

  bool empty() const noexcept { return advice_.empty(); }

  advice_report finish() {
    report_.heading = heading_.lines();
    book_waits_for_held_ranks();
    report_.holds = advice::bottleneck_of(all_);
    report_.min_gain = inputs_.rules.min_gain;
    for (auto& line : remarks_.lines(advice_.size())) report_.remarks.push_back(std::move(line));
    report_.advice = advice::join(advice_);
    look_at_late_ranks();
    return std::move(report_);
  }

 private:
  static constexpr std::string_view rule_over_ranks = "late_rank";

  /// What ranks waited in collectives because the profiler held another one is the profiler's time.
  void book_waits_for_held_ranks() {
    if (captures_.size() < 2) return;
    auto const waits = waits_for_held_ns(captures_, digests_, counted_);
    std::size_t first_gpu = 0;  // of the rank
    for (std::size_t i = 0; i < captures_.size(); ++i) {
      auto& gpus = report_.time.gpus;
      auto const is_other = [&](auto const& line) { return line.rank != captures_[i].label; };
      auto const end = static_cast<std::size_t>(
          std::find_if(gpus.begin() + static_cast<std::ptrdiff_t>(first_gpu), gpus.end(),
                       is_other) -
          gpus.begin());
      if (waits[i] > 0) {
        book_wait_for_held(report_.time.ranks[i].times, waits[i]);
        remarks_.add(
            "what it waited in collectives for ranks that this profiler held counts as "
            "the profiler's time",
            captures_[i].label);
        // Collectives do not say which of several GPUs they ran on.
        if (end - first_gpu == 1) {
          book_wait_for_held(gpus[first_gpu].times, waits[i]);
          book_wait_for_held(all_.devices[first_gpu].ledger, waits[i]);
        }
      }
      first_gpu = end;
    }
  }

  /// Applies the only rule that looks at all ranks: without a late rank, the others would not wait
  /// for it.
  void look_at_late_ranks() {
    auto& joined = report_.advice;
    auto const is_of_it = [](auto const& one) { return one.of->name == rule_over_ranks; };
    auto const asked = std::find_if(joined.missing.begin(), joined.missing.end(), is_of_it);
    if (asked == joined.missing.end()) return;  // the rule was skipped
    all_.window_ns = report_.window_ns;
    if (!has_steps_) {
      asked->how = "an NVTX range that repeats, such as one around each step";
      return;
    }
    if (auto const replayed = find_ranks(); !replayed) {
      asked->how = "steps of all ranks that can be replayed (" + replayed.message() + ")";
      return;
    }
    joined.missing.erase(asked);
    all_.there = advice::data::kernels | advice::data::several_ranks;
    advice::advice_options options{.only = {std::string(rule_over_ranks)}, .skipped = {}};
    options.min_gain = 0;
    for (auto& one : advice::give_advice(all_, options).findings) add_late(std::move(one));
  }

  result<void> find_ranks() {
    if (captures_.size() < 2) return error{"there is one rank"};
    auto read = read_steps_of_ranks({.captures = captures_, .remarks = {}},
                                    {.steps = {.step_name = inputs_.step.name,
                                               .within = {},
                                               .phase = {},
                                               .launches = nullptr,
                                               .takes_disturbed = true,
                                               .max_items = max_items_of_findings},
                                     .phases = std::move(phases_),
                                     .digests = std::move(digests_),
                                     .style = kernel_name_style::base});
    if (!read) return error{read.message()};
    replay::step_graph const graph(std::move(read->read.steps));
    for (auto& late : advice::find_late_ranks(graph, read->read.has_calls)) {
      auto const& capture = captures_[late.rank];
      all_.ranks.push_back({capture.label, capture.host, std::move(late),
                            static_cast<double>(read->read.all_steps)});
    }
    return {};
  }

  void add_late(advice::finding one) {
    auto const share = [&](double ns) { return ns / report_.window_ns; };
    advice::joined_finding late{.one = one,
                                .ns = {one.gain.low_ns, one.gain.high_ns},
                                .share = {share(one.gain.low_ns), share(one.gain.high_ns)},
                                .ranks = {}};
    for (std::size_t i = 0; i < advice_.size(); ++i) {
      if (one.what.starts_with("rank " + captures_[i].label + " ")) continue;  // late itself
      late.ranks.push_back({advice_[i].rank, one.instances, one.gain, advice_[i].all_windows_ns});
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
  std::vector<std::vector<time_stretch>> phases_, counted_;
  bool has_steps_ = true;
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
