// SPDX-License-Identifier: Apache-2.0
#include "comparison/read_sides.hpp"

#include "analyze/run_reading.hpp"
#include "analyze/steady_part.hpp"
#include "analyze/step_reading.hpp"
#include "base/result.hpp"
#include "comparison/source_lines.hpp"
#include "host/advice/advice.hpp"
#include "host/analysis/inferred_times.hpp"
#include "host/analysis/memory_summary.hpp"
#include "host/analysis/steps.hpp"
#include "host/analysis/timed_nodes.hpp"
#include "host/analysis/timeline/step_ranges.hpp"
#include "host/compare/run_digest.hpp"
#include "host/reading/roofline_reading.hpp"
#include "host/reading/summed_kernels.hpp"
#include "host/reading/time_merge.hpp"
#include "host/reading/trace_contents.hpp"
#include "host/report/summary_tables.hpp"
#include "lines/source_groups.hpp"
#include "progress.hpp"
#include "ranks/capture_names.hpp"
#include "ranks/capture_set.hpp"
#include "roofline_of_capture.hpp"

#include <algorithm>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace gpuprof::host::command {
namespace {

void take_buckets(compare::run_digest& digest, time_ledger const& ledger) {
  auto const gpus = static_cast<double>(ledger.by_device().size());
  auto const all = ledger.total();
  for (std::size_t i = 0; i < time_bucket_count; ++i) {
    auto const bucket = static_cast<time_bucket>(i);
    if (all[bucket] > 0) digest.buckets[std::string(name_of(bucket))] = all[bucket] / gpus;
  }
  digest.buckets[std::string(compare::idle_sum)] = all.idle() / gpus;
}

}  // namespace

void drop_numbered(std::map<std::string, compare::range_line>& ranges, std::string const& step) {
  std::erase_if(ranges, [&](auto const& range) {
    return range.first == step || without_number(range.first) == step;
  });
}

void take_facts(compare::run_digest& digest, trace_contents& trace) {
  digest.program = trace.fact("process.program");
  digest.command_line = trace.fact("process.command_line");
  digest.rank = ranked(trace, digest.path).rank;
  for (auto const& window : trace.windows()) {
    auto const end = window.end.value != 0 ? window.end : trace.last_moment();
    if (end > window.start)
      digest.window_ns += static_cast<std::uint64_t>((end - window.start).value);
  }
}

void take_roofline(compare::run_digest& digest, trace_contents& trace,
                   roofline_reading const& read) {
  if (!read.has_counters()) return;
  digest.has_counters = true;
  roofline const roofs(read.metrics(), read.times(), read.devices(), trace.shapes(), read.codes());
  auto const rows = lines_of(roofline_lines::signatures, roofs, trace, read.ranges());
  std::set<compare::kernel_key> taken;  // if only arguments differ, the longest is first
  for (auto const& row : rows) {
    compare::kernel_key const key{row.name, row.grid, row.block};
    auto const found = digest.kernels.find(key);
    if (found == digest.kernels.end() || !taken.insert(key).second) continue;
    auto& line = found->second;
    line.clock = row.clock;
    line.clock_error = row.clock_error;
    line.of_roof = row.of_roof;
    line.dram_rate = row.dram_rate;
    line.dram_share = row.shares[dram_roof];
    line.flops = row.total_flops;
    line.bound = row.bound;
  }
}

void take_losses(compare::run_digest& digest, trace_contents& trace) {
  auto const about = trace.overview();
  for (auto const& loss : about.losses) digest.lost += loss.count;
  digest.lost += about.other_losses.size();
  digest.missing = trace.missing();
}

void take_advice(compare::run_digest& digest, run_reading& reading) {
  reading.read();
  digest.ledger_ns = reading.facts().window_ns;
  if (reading.part()) digest.ledger_steps = reading.part()->steps;
  if (reading.ledger().by_device().empty()) return;
  take_buckets(digest, reading.ledger());
  auto const window = reading.facts().all_windows_ns();
  auto const advice = advice::give_advice(reading.facts(), {});
  auto& findings = digest.findings.emplace();
  for (auto const* list : {&advice.findings, &advice.too_small})
    for (auto const& one : *list)
      findings[std::string(one.rule)] += window > 0 ? one.gain.high_ns / window : 0;
}

namespace {

using compare::kernel_key;
using compare::run_digest;

constexpr std::uint32_t no_line = ~std::uint32_t{0};

class run_pass {
 public:
  /// `slowed` must cover all kernels.
  run_pass(trace_contents& trace, slowed_launches const& slowed,
           std::optional<source_lines> lines_of_source)
      : trace_(trace), slowed_(slowed), source_(std::move(lines_of_source)) {
    work_ns_.resize(trace.ranges().size());
    for (auto const& shape : trace.shapes()) {
      if (raw(shape.id) > largest_shape) continue;
      if (raw(shape.id) >= shapes_.size()) shapes_.resize(raw(shape.id) + 1);
      shapes_[raw(shape.id)] = &shape;
    }
  }

  run_digest run(std::string const& step) {
    read_work();
    finish_lines();
    add_up_ranges();
    take_ranges();
    take_step(step);
    take_gpus();
    if (source_) digest_.source_lines = source_->finish();
    return std::move(digest_);
  }

 private:
  struct line {
    kernel_key key;
    compare::duration_series durations;
    std::uint32_t range = no_range, predecessor = no_line;
    bool is_host_copy = false;
  };
  /// For each stream: the line that ran last, and the last one before it with another name.
  struct last_lines {
    std::uint32_t last = no_line, before = no_line;
  };

  void read_work();
  template <class Row>
  void add(Row const& row);
  std::uint32_t line_of(kernel_record const& kernel);
  std::uint32_t line_of(copy_record const& copy);
  std::uint32_t line_of(memset_record const& fill);
  std::uint32_t line_of(graph_record const& graph);
  std::uint32_t line_of(kernel_key key);
  template <class Row>
  void add_to_ranges(Row const& row, line& of, std::uint64_t ns);
  void note_predecessor(std::uint64_t stream, std::uint32_t index);
  void finish_lines();
  void add_up_ranges();
  void take_ranges();
  void take_step(std::string const& name);
  void take_gpus();
  std::string name_of(traced_range const& range) const {
    return std::string(without_operator_numbers(range_name(key_of(range), trace_.text())));
  }

  trace_contents& trace_;
  slowed_launches const& slowed_;
  timed_nodes timed_;
  static constexpr std::uint32_t all_work = 0;
  inferred_times inferred_;  // lines are all_work, and one for each of lines_
  std::optional<source_lines> source_;
  std::vector<line> lines_;
  std::map<kernel_key, std::uint32_t> by_key_;
  std::vector<kernel_shape const*> shapes_;        // by shape_id
  std::vector<std::uint32_t> by_shape_;            // line numbers
  std::map<std::uint64_t, std::uint32_t> copies_;  // by kind
  std::unordered_map<std::uint64_t, last_lines> streams_;
  std::vector<std::uint64_t> work_ns_;  // by range
  run_digest digest_;
};

void run_pass::read_work() {
  auto& file = trace_.file();
  auto const progress = progress_of("reading " + file.path(), file.row_count<kernel_record>());
  constexpr std::uint64_t step = 4096;
  std::uint64_t rows = 0;
  auto columns =
      capture::only(&kernel_record::duration, &kernel_record::shape, &kernel_record::device,
                    &kernel_record::stream, &kernel_record::range, &kernel_record::launched,
                    &kernel_record::correlation, &kernel_record::graph, &kernel_record::node,
                    &kernel_record::time_of);
  if (source_) {
    columns.insert(&kernel_record::stack);
    columns.insert(&kernel_record::thread);
  }
  add_columns_of(slowed_, columns);
  for_each_in_time<kernel_record, copy_record, memset_record, graph_record>(
      file,
      [&]<class Row>(Row const& row) {
        add(row);
        if (++rows % step == 0) progress(step);
      },
      columns, capture::column_set<copy_record>{}, capture::column_set<memset_record>{},
      capture::column_set<graph_record>{});
}

template <class Row>
void run_pass::add(Row const& row) {
  auto length = row.duration;
  bool has_own_time = true;
  if constexpr (std::is_same_v<Row, kernel_record>)
    if (auto const instead = slowed_.undisturbed(row)) {
      length = *instead;
      has_own_time = false;
    }
  auto const ns = static_cast<std::uint64_t>(std::max<std::int64_t>(length.value, 0));
  auto const index = line_of(row);
  auto& of = lines_[index];
  if (timed_.is_repeated(row))
    of.durations.add_again(static_cast<double>(ns));
  else
    of.durations.add(static_cast<double>(ns));
  digest_.kernel_ns += ns;
  if (has_own_time) {
    inferred_.add(row, all_work);
    inferred_.add(row, index + 1);
  }
  note_predecessor(std::uint64_t{raw(row.device)} << 32 | raw(row.stream), index);
  add_to_ranges(row, of, ns);
  if (source_) source_->add(row, index, of.range, static_cast<double>(ns), has_own_time);
}

template <class Row>
void run_pass::add_to_ranges(Row const& row, line& of, std::uint64_t ns) {
  auto const range = trace_.launched(range_scope::process).innermost(row);
  of.range = range;
  if (range != no_range) work_ns_[range] += ns;
  if (row.launched.value == 0) return;
  for (auto const open : trace_.open().at(row.launched)) work_ns_[open] += ns;
}

void run_pass::note_predecessor(std::uint64_t stream, std::uint32_t index) {
  auto& of = streams_[stream];
  if (of.last != no_line && lines_[of.last].key.name != lines_[index].key.name) of.before = of.last;
  of.last = index;
  lines_[index].predecessor = of.before;
}

std::uint32_t run_pass::line_of(kernel_key key) {
  auto const [at, is_new] =
      by_key_.try_emplace(std::move(key), static_cast<std::uint32_t>(lines_.size()));
  if (is_new) lines_.push_back({at->first, {}, no_range, no_line, false});
  return at->second;
}

std::uint32_t run_pass::line_of(kernel_record const& kernel) {
  auto const shape = raw(kernel.shape) <= largest_shape ? raw(kernel.shape) : 0;
  if (shape >= by_shape_.size()) by_shape_.resize(shape + 1, no_line);
  if (by_shape_[shape] != no_line) return by_shape_[shape];
  auto const& labels = trace_.labels(kernel_name_style::demangled);
  kernel_key key{labels.text(labels.label_of(kernel.shape)), {}, {}};
  if (shape < shapes_.size() && shapes_[shape] != nullptr) {
    key.grid = shapes_[shape]->grid;
    key.block = shapes_[shape]->block;
  }
  return by_shape_[shape] = line_of(std::move(key));
}

std::uint32_t run_pass::line_of(copy_record const& copy) {
  auto const [at, is_new] = copies_.try_emplace(static_cast<std::uint64_t>(copy.kind));
  if (is_new) at->second = line_of({operation_of(copy.kind), {}, {}});
  if (copy.kind == copy_kind::host_to_device || copy.kind == copy_kind::device_to_host)
    lines_[at->second].is_host_copy = true;
  return at->second;
}

std::uint32_t run_pass::line_of(memset_record const&) {
  return line_of({std::string(operation_of_memset), {}, {}});
}

std::uint32_t run_pass::line_of(graph_record const& graph) {
  return line_of({"[CUDA graph " + std::to_string(raw(graph.graph)) + "]", {}, {}});
}

void run_pass::finish_lines() {
  for (std::uint32_t i = 0; i < lines_.size(); ++i) {
    auto& of = lines_[i];
    of.durations.finish();
    of.durations.owe(inferred_.of(i + 1));
    auto& kernel = digest_.kernels[of.key];
    kernel.durations = std::move(of.durations);
    kernel.is_host_copy = of.is_host_copy;
    if (of.range != no_range) kernel.range = name_of(trace_.ranges()[of.range]);
    if (of.predecessor != no_line) kernel.predecessor = lines_[of.predecessor].key.name;
  }
}

/// Enclosing ranges come first in the tree.
void run_pass::add_up_ranges() {
  auto const& tree = trace_.ranges();
  for (auto i = static_cast<std::uint32_t>(tree.size()); i-- > 0;)
    if (auto const outer = tree[i].around(); outer != no_range) work_ns_[outer] += work_ns_[i];
}

void run_pass::take_ranges() {
  auto const& tree = trace_.ranges();
  std::map<range_key, compare::range_line*> by_key;
  for (std::uint32_t i = 0; i < tree.size(); ++i) {
    auto const [at, is_new] = by_key.try_emplace(key_of(tree[i]));
    if (is_new) at->second = &digest_.ranges[name_of(tree[i])];
    at->second->durations.add(static_cast<double>(tree[i].duration().value));
    at->second->gpu.add(static_cast<double>(work_ns_[i]));
  }
  for (auto& [_, of] : digest_.ranges) {
    of.durations.finish();
    of.gpu.finish();
  }
}

void run_pass::take_step(std::string const& name) {
  auto const& tree = trace_.ranges();
  auto const found =
      name.empty() ? find_steps(tree, trace_.text()) : steps_named(tree, trace_.text(), name);
  if (found.name.empty()) return;
  auto const domain = std::string(trace_.text()(found.domain));
  auto& step = digest_.step.emplace();
  step.name = (domain.empty() ? "" : domain + ":") + found.name;
  step.count = found.instances.size();
  step_ranges steps;
  steps.instances = found.instances;
  auto const periods_ns = periods_ahead(trace_, steps);
  std::map<thread_index, std::vector<std::uint32_t>> of_thread;
  std::map<std::uint32_t, double> length_ns;
  for (std::size_t i = 0; i < periods_ns.size(); ++i) {
    auto const range = steps.instances[i];
    of_thread[tree[range].thread].push_back(range);
    length_ns[range] = periods_ns[i];
  }
  for (auto const& [_, all] : of_thread)
    for (auto i = steps_of_warm_up(periods_of_thread(tree, all)); i < all.size(); ++i) {
      step.of.durations.add(length_ns[all[i]]);
      step.of.gpu.add(static_cast<double>(work_ns_[all[i]]));
    }
  step.of.durations.finish();
  step.of.gpu.finish();
  auto owed = inferred_.of(all_work);  // the steps have their part of it
  auto const part =
      digest_.kernel_ns > 0
          ? std::min(step.of.gpu.total() / static_cast<double>(digest_.kernel_ns), 1.0)
          : 0;
  owed.ns *= part;
  if (owed.error_ns) *owed.error_ns *= part;
  step.of.gpu.owe(owed);
  drop_numbered(digest_.ranges, step.name);
}

/// Keeps the GPUs that did any work.
void run_pass::take_gpus() {
  std::set<std::uint32_t> used;
  for (auto const& [stream, _] : streams_) used.insert(static_cast<std::uint32_t>(stream >> 32));
  for (auto const& device : trace_.devices()) {
    if (!used.contains(raw(device.device))) continue;
    digest_.gpus.emplace_back(trace_.text()(device.name));
    digest_.uuids.emplace_back(trace_.text()(device.uuid));
  }
}

/// Reads the data for a comparison from one capture: counters in one walk, then the work in order
/// of time.
///
/// `step` is the range that repeats; empty: find_steps chooses it.
result<run_digest> read_run(std::string const& path, std::string const& step,
                            std::optional<line_options> const& by, bool steps_first) {
  auto opened = capture::reader::open(path);
  if (!opened) return error{opened.message()};
  trace_contents trace(std::move(*opened));
  if (by)
    if (auto missing = without_stacks(trace, path); !missing.empty())
      return error{std::move(missing)};
  roofline_reading counters(trace, std::nullopt, range_scope::process);
  find_peaks(trace, counters);
  auto slowed = possibly_slowed(trace);
  run_reading reading(trace, nullptr, step);
  if (steps_first) reading.look_at_steps_first();
  reading.begin();
  capture_walk walk(trace.file());
  counters.join(walk, false);
  see_kernels(slowed, walk);
  join_kernel_blocks(walk, [&](kernel_block block) { reading.add(std::move(block)); });
  walk.run(progress_of("reading " + path, walk.rows()));
  counters.finish();
  reading.use(counters);
  std::optional<source_lines> lines_of_source;
  if (by) lines_of_source.emplace(trace, *by, step);
  auto digest = run_pass(trace, slowed, std::move(lines_of_source)).run(step);
  digest.are_modules = by && by->grouping == stack_grouping::module;
  digest.path = path;
  take_facts(digest, trace);
  take_roofline(digest, trace, counters);
  take_advice(digest, reading);
  take_losses(digest, trace);
  return digest;
}

result<std::vector<compare::run_digest>> read_side(std::vector<std::string> const& names,
                                                   std::string const& step,
                                                   std::optional<line_options> const& by,
                                                   bool steps_first) {
  auto const files = named_captures(names);
  if (!files) return error{files.message()};
  std::vector<compare::run_digest> runs;
  for (auto const& file : *files) {
    auto run = read_run(file, step, by, steps_first);
    if (!run) return error{run.message()};
    if (!step.empty() && !run->step)
      return error{file + ": no range is called '" + step +
                   "'; gpuprof stats -r nvtx_sum lists them"};
    runs.push_back(*std::move(run));
  }
  return runs;
}

}  // namespace

namespace {

result<two_sides> read_both(std::vector<std::string> const& base,
                            std::vector<std::string> const& fresh, std::string const& step,
                            std::optional<line_options> const& by, bool steps_first) {
  // If one of the two throws, for example bad_alloc, the exception leaves this function only after
  // the other has ended.
  auto reading =
      std::async(std::launch::async, [&] { return read_side(base, step, by, steps_first); });
  auto new_runs = read_side(fresh, step, by, steps_first);
  auto base_runs = reading.get();
  if (!base_runs) return error{base_runs.message()};
  if (!new_runs) return error{new_runs.message()};
  return two_sides{*std::move(base_runs), *std::move(new_runs)};
}

bool any_without_steps(two_sides const& sides) {
  auto const has_none = [](auto const& run) { return run.ledger_steps == 0; };
  return std::any_of(sides.base.begin(), sides.base.end(), has_none) ||
         std::any_of(sides.fresh.begin(), sides.fresh.end(), has_none);
}

bool any_with_steps(two_sides const& sides) {
  auto const has_some = [](auto const& run) { return run.ledger_steps > 0; };
  return std::any_of(sides.base.begin(), sides.base.end(), has_some) ||
         std::any_of(sides.fresh.begin(), sides.fresh.end(), has_some);
}

}  // namespace

result<two_sides> read_sides(std::vector<std::string> const& base,
                             std::vector<std::string> const& fresh, std::string const& step,
                             std::optional<line_options> const& by) {
  auto sides = read_both(base, fresh, step, by, true);
  if (sides && any_with_steps(*sides) && any_without_steps(*sides))
    return read_both(base, fresh, step, by, false);
  return sides;
}

}  // namespace gpuprof::host::command
