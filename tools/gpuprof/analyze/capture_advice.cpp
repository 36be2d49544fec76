// SPDX-License-Identifier: Apache-2.0
#include "analyze/capture_advice.hpp"

#include "analyze/asked_step.hpp"
#include "analyze/phase.hpp"
#include "analyze/run_reading.hpp"
#include "analyze/step_reading.hpp"
#include "base/readable.hpp"
#include "host/advice/facts.hpp"
#include "host/advice/step_bound.hpp"
#include "host/advice/step_patterns.hpp"
#include "host/analysis/kernel_kind.hpp"
#include "host/analysis/timeline/time_bucket.hpp"
#include "host/reading/trace_contents.hpp"
#include "host/replay/repeated_steps.hpp"
#include "host/replay/step_paths.hpp"
#include "host/report/ledger_table.hpp"
#include "host/report/summary_tables.hpp"
#include "progress.hpp"
#include "text/overview.hpp"
#include "whatif/read_steps.hpp"
#include "whatif/replay_check.hpp"
#include "whatif/traced_paths.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::host::command {
namespace {

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
    auto const kind = kernel.is_communication ? kernel_kind::communication : kernel.work.kind;
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
  to.growing = advice::growing_kernels(recorded);
  to.steps_of_groups = recorded.steps;
  to.all_steps_of_groups = steps.all_steps;
  to.are_stretches = steps.is_sliced;
  for (auto& group : to.groups) {
    auto place = lines.main_place(group.stacks);
    group.line = std::move(place.line);
    group.module = std::move(place.module);
  }
}

std::optional<report::analyzed_part> part_of(run_reading const& run, bool is_of_phase) {
  if (!run.part()) return std::nullopt;
  return report::analyzed_part{.step = run.facts().steps.name,
                               .steps = run.part()->steps,
                               .warm_up = run.part()->warm_up,
                               .first_step = run.facts().steps.first,
                               .before_ns = run.before_ns(),
                               .ns = run.facts().window_ns,
                               .behind_ns = run.behind_ns(),
                               .is_of_phase = is_of_phase};
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

std::string missing_for_the_roof(advice::run_facts const& facts) {
  auto const missing = (advice::data::counters | advice::data::peaks).without(facts.there);
  auto const is_possible = facts.impossible.empty();
  return missing.empty() || !is_possible ? std::string() : advice::how_to_record(missing);
}
/// Takes from the walk of another thread what the run needs of it.
void follow(run_reading& run, other_walk& walk, trace_contents& trace) {
  run.begin();
  while (auto block = walk.kernels.next()) run.add(*std::move(block));
  auto const known = walk.known();
  trace.file().take(known.notes);
  run.use(known.counters);
}

}  // namespace

capture_advice read_capture(std::string const& path, std::string const& rank,
                            advice_inputs const& inputs) {
  capture_advice made;
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
  if (has_all_work && !inputs.step.is_one() && !inputs.whole_run) run.look_at_steps_first();
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
  made.part = part_of(run, !phase.empty());
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
    made.phase = phase;
    made.counted = run.counted();
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

std::string capture_advice::whole() const {
  if (!one_step.empty()) return "step";
  if (!part) return "run";
  return part->step.empty() ? "steady part" : "steps";
}

report::advice_report report_of_one(capture_advice made, advice_inputs const& inputs) {
  report::advice_report report;
  report.heading = overview_lines(made.overview);
  report.costs = std::move(made.costs);
  if (made.part)
    report.heading.push_back((made.part->step.empty() ? "part:     " : "steps:    ") +
                             report::part_line(*made.part));
  if (!made.one_step.empty()) report.heading.push_back("step:     " + made.one_step);
  report.whole = made.whole();
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

}  // namespace gpuprof::host::command
