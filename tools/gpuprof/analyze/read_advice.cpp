// SPDX-License-Identifier: Apache-2.0
#include "analyze/read_advice.hpp"

#include "analyze/asked_step.hpp"
#include "analyze/phase.hpp"
#include "analyze/run_reading.hpp"
#include "analyze/step_reading.hpp"
#include "base/readable.hpp"
#include "host/advice/facts.hpp"
#include "host/advice/step_bound.hpp"
#include "host/analysis/kernel_kind.hpp"
#include "host/analysis/ranks/collective_waits.hpp"
#include "host/analysis/timeline/time_bucket.hpp"
#include "host/reading/trace_contents.hpp"
#include "host/replay/repeated_steps.hpp"
#include "host/replay/step_paths.hpp"
#include "host/report/ledger_table.hpp"
#include "host/report/summary_tables.hpp"
#include "progress.hpp"
#include "ranks/capture_set.hpp"
#include "ranks/rank_digest.hpp"
#include "text/overview.hpp"
#include "whatif/read_steps.hpp"
#include "whatif/replay_check.hpp"
#include "whatif/traced_paths.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <memory>
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

constexpr std::size_t max_ranges = 1000, max_steps = 10'000;

/// Adds the time ledger of a capture as lines for reports.
///
/// `rank` is empty if there is only one capture.
void add_gpus(report::ledger& to, advice::run_facts const& facts, std::string const& rank) {
  for (auto const& device : facts.devices) {
    auto const gpu = "GPU " + std::to_string(raw(device.device));
    report::ledger_line line;
    line.label = rank.empty() ? gpu : "rank " + rank + " " + gpu;
    line.times = device.ledger;
    line.device = raw(device.device);
    line.rank = rank;
    to.gpus.push_back(std::move(line));
  }
}

/// Adds up the kernels by the kind of their work.
void add_kinds(report::ledger& to, advice::run_facts const& facts) {
  struct sum {
    report::kind_line line;
    double bytes = 0, bytes_known_ns = 0, roof_ns = 0, roof_known_ns = 0;
  };
  std::array<sum, kernel_kind_count> sums;
  double all = 0;
  for (auto const& kernel : facts.kernels) {
    auto const kind =
        kernel.is_communication ? kernel_kind::communication : work_of(kernel.name).kind;
    auto& of = sums[static_cast<std::size_t>(kind)];
    of.line.kind = kind;
    of.line.launches += kernel.launches;
    of.line.ns += kernel.total_ns;
    all += kernel.total_ns;
    if (kernel.figures.dram_rate) {
      of.bytes += *kernel.figures.dram_rate * kernel.total_ns / 1e9;
      of.bytes_known_ns += kernel.total_ns;
    }
    if (kernel.figures.of_roof) {
      of.roof_ns += *kernel.figures.of_roof * kernel.total_ns;
      of.roof_known_ns += kernel.total_ns;
    }
  }
  for (auto& of : sums) {
    if (of.line.ns <= 0) continue;
    auto const is_known = [&](double known_ns) {
      return known_ns >= least_known_of_utilization * of.line.ns;
    };
    of.line.share = of.line.ns / all;
    if (is_known(of.bytes_known_ns)) of.line.dram_bytes = of.bytes;
    if (is_known(of.roof_known_ns)) of.line.of_roof = of.roof_ns / of.roof_known_ns;
    to.kinds.push_back(of.line);
  }
  std::ranges::stable_sort(to.kinds, std::greater{}, &report::kind_line::ns);
}

/// Splits the idle time by what the launching threads were seen to do in it. Buckets with few looks
/// are left out.
void add_causes(report::ledger& to, advice::run_facts const& facts) {
  constexpr double fewest_looks = 10;
  bucket_times looks, times;
  for (auto const& look : facts.looks) looks[look.bucket] += look.looks;
  for (auto const& device : facts.devices) times += device.ledger;
  for (auto const& look : facts.looks) {
    if (looks[look.bucket] < fewest_looks) continue;
    auto const share = look.looks / looks[look.bucket];
    to.causes.push_back({look.bucket, look.words, look.where, look.held_by, look.looks,
                         share * times[look.bucket], share});
  }
  std::ranges::stable_sort(to.causes, {}, &report::idle_cause_line::bucket);
}

/// Adds at most some thousand ranges; the ledger has the number of further ones.
void add_ranges(report::ledger& to, time_ledger const& from, text_of_name const& text) {
  auto const lines = from.by_range();
  auto const kept = std::min(lines.size(), max_ranges);
  to.more_ranges = lines.size() - kept;
  for (std::size_t i = 0; i < kept; ++i) {
    auto const& range = lines[i];
    report::ledger_line line;
    line.label = range.is_outside ? "(outside of ranges)" : range_name(range.range, text);
    line.times = range.inclusive;
    line.own = range.exclusive;
    to.ranges.push_back(std::move(line));
  }
}

void add_steps(report::ledger& to, time_ledger const& from, advice::step_facts const& steps) {
  auto const& all = from.by_step();
  auto const kept = std::min(all.size(), max_steps);
  to.more_steps = all.size() - kept;
  to.first_step = steps.first;
  auto const slow = advice::slow_steps_of(steps);
  to.slow_beyond_ns = slow.limit_ns;
  auto const name = steps.name.empty() ? std::string("step") : steps.name;
  for (std::size_t i = 0; i < kept; ++i) {
    report::ledger_line line;
    line.label = name + " " + std::to_string(steps.first + i);
    line.times = all[i];
    if (i < steps.period_ns.size()) line.period_ns = steps.period_ns[i];
    line.is_slow = std::binary_search(slow.which.begin(), slow.which.end(), i);
    to.steps.push_back(std::move(line));
  }
}

using report::advice_report;

/// The data read from the capture of one rank.
struct read_capture {
  advice::run_facts facts;  // devices of this rank only
  advice::advice_of_rank advice;
  std::optional<advice::roof_distance> roof;
  report::ledger time;
  std::optional<report::analyzed_part> part;
  std::string one_step;  // which one, if only one step is looked at
  text::overview overview;
  std::vector<std::pair<std::string, std::uint64_t>> costs;
  std::string step;          // name of the steps that were replayed
  replay::step_paths paths;  // of these steps; none if they are stretches of the run
  std::vector<std::string> remarks;
  rank_digest digest;        // set if there are several captures
  time_stretch looked_at{};  // begin 0: the whole run
  advice_failure failure;
};

/// Filters turn the work left out into idle time, so rules about idle time do not apply.
advice::advice_options without_idle_time(advice::advice_options rules) {
  using advice::rule_group;
  for (auto const* rule : advice::all_rules())
    if (rule->group != rule_group::kernel) rules.skipped.emplace_back(rule->name);
  return rules;
}

constexpr std::size_t no_subjects = 0;  // the path by kind of work only

struct steps_of_run {
  std::unique_ptr<replay::step_graph> graph;
  double all = 0;
  bool is_sliced = false;
  std::string name;
  replay::step_paths paths;

  advice::replayable_steps replayable() const noexcept { return {graph.get(), all, is_sliced}; }
};

/// Returns nothing, and adds the reason, if the steps cannot be replayed. `heard` may be null.
std::optional<steps_of_run> steps_to_replay(run_reading& run, trace_contents const& trace,
                                            timeline_listener const* heard,
                                            std::vector<std::string>& remarks) {
  auto const not_replayed = [&](std::string const& why) {
    remarks.push_back("gains are not replayed but estimated from sums of the run: " + why);
    return std::nullopt;
  };
  auto read = run.collected_steps();
  if (!read) return not_replayed(read.message());
  auto const is_sliced = read->is_sliced;
  auto const all = is_sliced ? read->all_slices : static_cast<double>(read->all_steps);
  if (is_sliced) remarks.push_back(read->remarks.front());
  auto graph = std::make_unique<replay::step_graph>(std::move(read->steps));
  replay::step_edit const unchanged(*graph);
  auto const replayed = replay::replay(unchanged);
  auto const step_ns = replayed.total_ns() / static_cast<double>(graph->recorded().steps);
  if (auto const wrong = why_not_replayed(*graph, step_ns); !wrong.empty())
    return not_replayed(wrong);
  auto paths =
      is_sliced ? replay::step_paths() : replay::step_paths_of(unchanged, replayed, no_subjects);
  if (heard != nullptr) heard->paths(traced_paths_of(paths, *graph, *read, trace));
  return steps_of_run{std::move(graph), all, is_sliced, std::move(read->name), std::move(paths)};
}

/// Steps that launch the same work in the same order are a sequence for a graph, too long to be
/// found while the launches pass by.
void add_sequence_of_steps(advice::run_facts& to, replay::step_graph const& graph) {
  constexpr double min_share = 0.8;
  auto const found = replay::repeated_steps_of(graph);
  auto const steps = to.steps.period_ns.size();
  if (found.share < min_share || !to.sequences.empty() || steps == 0) return;
  auto& sequence = to.sequences.emplace_back();
  sequence.kernels = found.kernels;
  sequence.length = found.launches;
  sequence.repetitions = static_cast<std::uint64_t>(found.share * static_cast<double>(steps));
  sequence.range = to.steps.name;
  sequence.is_whole_step = true;
  for (auto const period_ns : to.steps.period_ns) sequence.run_ns += period_ns;
  sequence.busy_ns = std::min(sequence.run_ns, to.steps.busy_ns);
}

/// Groups of launches that one change would save together, with the line that launched most.
void add_groups(advice::run_facts& to, advice::replayable_steps const& steps,
                program_lines const& lines) {
  auto const& recorded = steps.graph->recorded();
  to.groups = advice::find_groups(recorded, to, [&](std::uint32_t stack) {
    return lines.main_place({{stack, 1}}).line;
  });
  to.steps_of_groups = recorded.steps;
  to.all_steps_of_groups = steps.all_steps;
  for (auto& group : to.groups) {
    auto place = lines.main_place(group.stacks);
    group.line = std::move(place.line);
    group.module = std::move(place.module);
  }
}

std::optional<report::analyzed_part> part_of(run_reading const& run) {
  if (!run.part()) return std::nullopt;
  return report::analyzed_part{.step = run.facts().steps.name,
                               .steps = run.part()->steps,
                               .warm_up = run.part()->warm_up,
                               .first_step = run.facts().steps.first,
                               .before_ns = run.before_ns(),
                               .ns = run.facts().window_ns,
                               .behind_ns = run.behind_ns()};
}

std::string nothing_to_analyze(std::string const& path, filter_options const& filters) {
  if (auto const given = filters_line(filters); !given.empty())
    return path + ": nothing passes the filters (" + given + ")";
  return path +
         " holds no work of a GPU: there is nothing to analyze; gpuprof stats shows what it holds";
}

/// Says which step it is: "step 55" of 240, 17.3 ms from its start to that of the next, ...".
std::string line_of(found_step const& step, bool is_slowest) {
  auto text = "\"" + step.name + "\" " + std::to_string(step.number) + " of " +
              readable_count(step.count) + ", " + readable_time(step.period_ns) +
              " from its start to that of the next, without the time of the profiler";
  if (is_slowest) {
    text += "; the slowest";
    if (step.warm_up > 0) text += " without " + readable_count(step.warm_up) + " of warm-up";
  }
  return text;
}

/// Takes from the walk of another thread what the run needs of it.
void follow(run_reading& run, other_walk& walk, trace_contents& trace) {
  run.begin();
  while (auto block = walk.kernels.next()) run.add(*std::move(block));
  auto const known = walk.known();
  trace.file().take(known.notes);
  run.use(known.counters);
}

read_capture read_one(std::string const& path, std::string const& rank,
                      advice_inputs const& inputs) {
  read_capture made;
  auto opened = capture::reader::open(path);
  if (!opened) {
    made.failure = {opened.message(), false};
    return made;
  }
  trace_contents trace(*std::move(opened));
  selection wanted;
  if (auto const failed = narrow(wanted, inputs.filters, trace, path, range_scope::process)) {
    made.failure = {failed->message, failed->wrong_options};
    return made;
  }
  auto phase = phase_of(inputs.filters, trace);
  if (inputs.step.is_one()) {
    auto const step = find_step(trace, inputs.step);
    if (!step) {
      made.failure = {path + ": " + step.message(), false};
      return made;
    }
    phase = {step->time};
    made.one_step = line_of(*step, inputs.step.is_slowest);
  }
  run_reading run(trace, wanted.is_everything() ? nullptr : &wanted, inputs.step.name,
                  inputs.timeline, phase);
  auto const has_all_work = wanted.is_everything() || !phase.empty();
  if (has_all_work)
    run.collect_steps({.step_name = inputs.step.name,
                       .within = {},
                       .phase = phase,
                       .launches = nullptr,
                       .max_items = max_items_of_findings});
  if (has_all_work && phase.empty() && !inputs.whole_run) run.look_at_steps_first();
  if (inputs.elsewhere != nullptr) follow(run, *inputs.elsewhere, trace);
  run.read();
  auto const& facts = run.facts();
  made.overview = trace.overview();
  made.costs = trace.costs();
  if (facts.devices.empty()) {
    made.failure = {nothing_to_analyze(path, inputs.filters), false};
    return made;
  }
  auto const rules = has_all_work ? inputs.rules : without_idle_time(inputs.rules);
  made.remarks = run.remarks();
  made.part = part_of(run);
  terminal_line line;  // takes longer for more steps and more findings
  line.show("gpuprof: replaying the steps of " + path);
  auto replayed = has_all_work ? steps_to_replay(run, trace, inputs.timeline, made.remarks)
                               : std::optional<steps_of_run>();
  if (replayed) {
    auto const steps = replayed->replayable();
    made.step = std::move(replayed->name);
    made.paths = std::move(replayed->paths);
    auto with_steps = facts;
    add_sequence_of_steps(with_steps, *steps.graph);
    add_groups(with_steps, steps, run.lines());
    if (!with_steps.groups.empty() && !with_steps.there.has(advice::data::counters))
      made.remarks.emplace_back(
          "the capture holds no counters: what kernels do comes from their names, and what rows of "
          "kernels could save from their times, not from bytes; --metrics auto counts them");
    made.advice = {rank, facts.all_windows_ns(), advice::give_advice(with_steps, rules, &steps)};
  } else {
    made.advice = {rank, facts.all_windows_ns(), advice::give_advice(facts, rules)};
  }
  made.advice.all_windows_ns = made.advice.given.own_windows_ns;
  run.lines().name(made.advice.given.findings);
  run.lines().name(made.advice.given.too_small);
  made.roof = advice::roof_distance_of(facts);
  made.facts.window_ns = facts.window_ns;
  made.facts.there = facts.there;
  made.facts.impossible = facts.impossible;
  made.facts.devices = facts.devices;
  add_gpus(made.time, facts, rank);
  if (!rank.empty()) {
    made.facts.steps.period_ns = facts.steps.period_ns;
    if (run.part()) made.looked_at = run.part()->time;
    made.digest = read_digest(trace, {}, range_scope::process,
                              {.ranges = false, .styles = {kernel_name_style::base}});
    return made;
  }
  add_kinds(made.time, facts);
  add_causes(made.time, facts);
  add_ranges(made.time, run.ledger(), trace.text());
  add_steps(made.time, run.ledger(), facts.steps);
  return made;
}

std::string missing_for_the_roof(advice::run_facts const& facts) {
  auto const missing = (advice::data::counters | advice::data::peaks).without(facts.there);
  auto const is_possible = facts.impossible.empty();
  return missing.empty() || !is_possible ? std::string() : advice::how_to_record(missing);
}

std::string whole_of(read_capture const& made) {
  if (!made.one_step.empty()) return "step";
  if (!made.part) return "run";
  return made.part->step.empty() ? "steady part" : "steps";
}

advice_report report_of_one(read_capture made, advice_inputs const& inputs) {
  advice_report report;
  report.heading = overview_lines(made.overview);
  report.costs = std::move(made.costs);
  if (made.part)
    report.heading.push_back((made.part->step.empty() ? "part:     " : "steps:    ") +
                             report::part_line(*made.part));
  if (!made.one_step.empty()) report.heading.push_back("step:     " + made.one_step);
  report.whole = whole_of(made);
  report.part = std::move(made.part);
  report.holds = made.advice.given.holds;
  report.roof = made.roof;
  report.roof_is_missing = missing_for_the_roof(made.facts);
  report.window_ns = made.facts.window_ns;
  report.all_windows_ns = made.advice.all_windows_ns;
  report.best_case_ns = made.advice.given.best_case_ns;
  report.min_gain = inputs.rules.min_gain;
  report.time = std::move(made.time);
  report.step = std::move(made.step);
  report.paths = std::move(made.paths);
  report.remarks = std::move(made.remarks);
  report.advice = advice::join(std::span(&made.advice, 1));
  return report;
}

/// Combines the ranks of a job.
class joined_reading {
 public:
  explicit joined_reading(advice_inputs const& inputs) : inputs_(inputs) {}

  void add(read_capture made, ranked_capture const& capture) {
    heading_.add(made.overview, capture);
    if (!made.failure.message.empty()) {
      report_.remarks.push_back("rank " + capture.label + " was left out: " + made.failure.message);
      return;
    }
    for (auto const& remark : made.remarks) remarks_.add(remark, capture.label);
    if (made.part) remarks_.add(report::part_line(*made.part), capture.label);
    if (!made.one_step.empty()) remarks_.add(made.one_step, capture.label);
    report_.whole = advice_.empty() || report_.whole == whole_of(made) ? whole_of(made) : "run";
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
    auto made = read_one(capture.path, capture.label, inputs);
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
    auto made = read_one(inputs.captures.front(), {}, inputs);
    if (!made.failure.message.empty()) return {std::nullopt, made.failure};
    outcome.made = report_of_one(std::move(made), inputs);
  }
  if (auto line = filters_line(inputs.filters); outcome.made && !line.empty())
    outcome.made->heading.insert(outcome.made->heading.begin() + 1, std::move(line));
  return outcome;
}

}  // namespace gpuprof::host::command
