// SPDX-License-Identifier: Apache-2.0
#include "ranks/rank_digest.hpp"

#include "analyze/step_reading.hpp"
#include "collective_kernels.hpp"
#include "host/analysis/ranks/rank_spread.hpp"
#include "host/reading/summed_kernels.hpp"
#include "host/reading/time_merge.hpp"
#include "host/report/summary_tables.hpp"
#include "progress.hpp"

#include <algorithm>
#include <cstdlib>
#include <type_traits>
#include <utility>

namespace gpuprof::host::command {
namespace {

class digest_pass {
 public:
  digest_pass(trace_contents& trace, selection const& wanted, range_scope scope,
              digest_wants const& wants)
      : trace_(trace),
        wanted_(wanted),
        scope_(scope),
        wants_(wants),
        has_filter_(!wanted.is_everything()),
        is_collective_(find_collectives(trace)) {
    if (wants.ranges) work_ns_.resize(trace.ranges().size());
  }

  rank_digest run() {
    slowed_ = read_slowed_launches(trace_);
    read_work();
    take_facts();
    take_clock();
    take_names();
    if (wants_.ranges) take_ranges();
    return std::move(digest_);
  }

 private:
  struct shape_total {
    std::uint64_t count = 0, ns = 0;
    std::vector<occurrence> occurrences;  // for collectives
  };

  capture::column_set<kernel_record> kernel_columns() const;
  void read_work();
  void add(kernel_record const& kernel);
  void add_to_ranges(kernel_record const& kernel, std::uint64_t ns);
  std::uint32_t step_of(kernel_record const& kernel) const;
  void take_facts();
  void take_clock();
  void take_names();
  void take_ranges();

  trace_contents& trace_;
  selection const& wanted_;
  range_scope const scope_;
  digest_wants const& wants_;
  bool const has_filter_;
  std::vector<bool> is_collective_;
  slowed_launches slowed_;
  busy_time busy_;
  std::vector<shape_total> by_shape_;
  std::vector<std::uint64_t> work_ns_;  // by innermost range
  rank_digest digest_;
};

capture::column_set<kernel_record> digest_pass::kernel_columns() const {
  if (has_filter_) return {};
  auto columns =
      capture::only(&kernel_record::duration, &kernel_record::shape, &kernel_record::device);
  add_columns_of(slowed_, columns);
  if (!wants_.ranges) return columns;
  columns.insert(&kernel_record::range);
  columns.insert(&kernel_record::launched);
  return columns;
}

void digest_pass::read_work() {
  auto& file = trace_.file();
  held_idle_times held(held_times(disturbed_times(trace_)));
  auto const progress = progress_of("reading " + file.path(), file.row_count<kernel_record>());
  constexpr std::uint64_t step = 4096;
  std::uint64_t rows = 0;
  for_each_in_time<kernel_record, copy_record, memset_record, graph_record>(
      file,
      [&]<class Row>(Row const& row) {
        held.add_work(row.start, row.start + row.duration);
        if (has_filter_ && !wanted_.keeps(row)) return;
        busy_.add(row.device, row.start, row.duration);
        if constexpr (std::is_same_v<Row, kernel_record>) {
          add(row);
          if (++rows % step == 0) progress(step);
        }
      },
      kernel_columns(), capture::column_set<copy_record>{}, capture::column_set<memset_record>{},
      capture::column_set<graph_record>{});
  digest_.held = held.finish();
}

void digest_pass::add(kernel_record const& kernel) {
  auto const shape = raw(kernel.shape) <= largest_shape ? raw(kernel.shape) : 0;
  if (shape >= by_shape_.size()) by_shape_.resize(shape + 1);
  auto ns = nanoseconds(kernel.duration);
  if (auto const instead = slowed_.undisturbed(kernel)) {
    ns = nanoseconds(*instead);
    ++digest_.slowed;
  }
  auto& of = by_shape_[shape];
  ++of.count;
  of.ns += ns;
  ++digest_.kernels;
  if (shape < is_collective_.size() && is_collective_[shape]) {
    digest_.collective_ns += ns;
    of.occurrences.push_back({kernel.start, kernel.start + kernel.duration, step_of(kernel)});
    return;
  }
  digest_.work_ns += ns;
  if (wants_.ranges) add_to_ranges(kernel, ns);
}

void digest_pass::add_to_ranges(kernel_record const& kernel, std::uint64_t ns) {
  auto const range = trace_.launched(scope_).innermost(kernel);
  if (range != no_range) work_ns_[range] += ns;
  if (kernel.launched.value == 0) return;
  for (auto const open : trace_.open().at(kernel.launched)) work_ns_[open] += ns;
}

std::uint32_t digest_pass::step_of(kernel_record const& kernel) const {
  if (wants_.steps == nullptr || wants_.steps->empty()) return no_step;
  auto const range = trace_.launched(scope_).innermost(kernel);
  return range == no_range ? no_step : wants_.steps->step_of_range[range];
}

void digest_pass::take_facts() {
  digest_.busy_ns = busy_.total_ns();
  auto const used = busy_.devices();
  digest_.devices = used.size();
  for (auto const& window : trace_.windows()) {
    auto const end = window.end.value != 0 ? window.end : trace_.last_moment();
    if (end > window.start) digest_.window_ns += nanoseconds(end - window.start);
  }
  auto const names = trace_.device_names();
  std::map<std::string, std::size_t> gpus;
  for (auto const device : used)
    if (auto const known = names.find(raw(device)); known != names.end()) ++gpus[known->second];
  for (auto const& [name, count] : gpus)
    digest_.gpus += (digest_.gpus.empty() ? "" : ", ") +
                    (count > 1 ? std::to_string(count) + " x " : "") + name;
  auto const launches = trace_.counter("seen.launches") + trace_.counter("seen.graph_launches");
  if (launches > 0 && !has_filter_) digest_.launches = launches;
}

void digest_pass::take_clock() {
  std::vector<std::int64_t> differences;
  trace_.file().for_each<clock_record>([&](std::span<clock_record const> clocks) {
    for (auto const& clock : clocks)
      differences.push_back(static_cast<std::int64_t>(clock.realtime.value - clock.monotonic));
  });
  if (differences.empty()) return;
  std::sort(differences.begin(), differences.end());
  digest_.wall_over_monotonic = differences[differences.size() / 2];
  digest_.clock_step_ns = static_cast<std::uint64_t>(differences.back() - differences.front());
}

void digest_pass::take_names() {
  for (auto const style : wants_.styles) {
    auto const& labels = trace_.labels(style);
    auto& names = digest_.by_style[style];
    for (std::size_t shape = 0; shape < by_shape_.size(); ++shape) {
      auto const& of = by_shape_[shape];
      if (of.count == 0) continue;
      auto const& text = labels.text(labels.label_of(static_cast<shape_id>(shape)));
      auto& kernel = names.kernels[text];
      kernel.count += of.count;
      kernel.ns += of.ns;
      if (of.occurrences.empty()) continue;
      auto& occurrences = names.collectives[text];
      occurrences.insert(occurrences.end(), of.occurrences.begin(), of.occurrences.end());
    }
    for (auto& [name, occurrences] : names.collectives)
      std::stable_sort(occurrences.begin(), occurrences.end(),
                       [](auto const& a, auto const& b) { return a.start < b.start; });
  }
}

void digest_pass::take_ranges() {
  auto const& tree = trace_.ranges();
  // Enclosing ranges come first in the tree.
  for (auto i = static_cast<std::uint32_t>(tree.size()); i-- > 0;)
    if (auto const outer = around(tree[i], scope_); outer != no_range)
      work_ns_[outer] += work_ns_[i];
  std::map<range_key, rank_digest::amount> by_key;
  for (std::uint32_t i = 0; i < tree.size(); ++i) {
    if (has_filter_ && !wanted_.keeps_range(tree, i)) continue;
    auto& amount = by_key[key_of(tree[i])];
    ++amount.count;
    amount.ns += nanoseconds(tree[i].duration());
    amount.work_ns += work_ns_[i];
  }
  for (auto const& [key, amount] : by_key) {
    auto const name = range_name(key, trace_.text());
    auto& of = digest_.ranges[{std::string(without_operator_numbers(name)), key.style}];
    of.count += amount.count;
    of.ns += amount.ns;
    of.work_ns += amount.work_ns;
  }
}

}  // namespace

rank_digest read_digest(trace_contents& trace, selection const& wanted, range_scope scope,
                        digest_wants const& wants) {
  return digest_pass(trace, wanted, scope, wants).run();
}

bool job_collectives::empty() const noexcept {
  return std::all_of(of_rank.begin(), of_rank.end(), [](auto const* of) { return of->empty(); });
}

std::vector<std::vector<held_wait>> waits_for_held(std::span<ranked_capture const> captures,
                                                   std::span<rank_digest const> digests,
                                                   kernel_name_style style) {
  std::vector<held_times> held;
  for (auto const& digest : digests) held.push_back(digest.held);
  auto const job = collectives_of(captures, digests, style);
  return waits_for_held(job.of_rank, job.clocks, job.tolerance_ns, held);
}

std::vector<double> waits_for_held_ns(std::span<ranked_capture const> captures,
                                      std::span<rank_digest const> digests,
                                      std::span<std::vector<time_stretch> const> counted) {
  std::vector<double> waits(digests.size());
  auto const found = waits_for_held(captures, digests, kernel_name_style::base);
  for (std::size_t rank = 0; rank < found.size(); ++rank) {
    std::vector<time_stretch> times;
    for (auto const& wait : found[rank]) times.push_back(wait.time);
    held_times const waited(std::move(times));  // adds up those that overlap
    auto const add = [&](timestamp_ns from, timestamp_ns to) {
      waits[rank] += static_cast<double>(waited.between(from, to));
    };
    if (counted[rank].empty()) add({}, {~std::uint64_t{0}});
    for (auto const& one : counted[rank]) add(one.begin, one.end);
  }
  return waits;
}

double book_wait_for_held(bucket_times& times, double ns) {
  auto const alone = times[time_bucket::communication];
  auto const all = alone + times[time_bucket::compute_and_communication];
  auto const moved = all > 0 ? std::min(ns, all) * alone / all : 0;
  times[time_bucket::communication] -= moved;
  times[time_bucket::profiler] += moved;
  return moved;
}

job_collectives collectives_of(std::span<ranked_capture const> captures,
                               std::span<rank_digest const> digests, kernel_name_style style) {
  job_collectives all;
  std::vector<rank_timeline> timelines;
  for (std::size_t i = 0; i < digests.size(); ++i) {
    auto const& of = digests[i].by_style.at(style).collectives;
    all.of_rank.push_back(&of);
    timelines.push_back({captures[i].host, digests[i].wall_over_monotonic, &of});
  }
  all.clocks = offsets_of(timelines);
  for (auto const& host : all.clocks.hosts)
    all.tolerance_ns = std::max(all.tolerance_ns, host.error_ns.value_or(0));
  return all;
}

}  // namespace gpuprof::host::command
