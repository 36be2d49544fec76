// SPDX-License-Identifier: Apache-2.0
#include "report_page/rank_document.hpp"

#include "capture/reader.hpp"
#include "host/analysis/ranks/collective_waits.hpp"
#include "host/report/advice_words.hpp"
#include "ranks/rank_reports.hpp"
#include "report_page/page_documents.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace gpuprof::host::command {
namespace {

// A larger heat map is wider than any screen, and slow to draw.
constexpr std::size_t max_cells = 60'000, least_steps_shown = 20;
constexpr std::size_t max_rows_of_rank = 1000;
constexpr std::array<std::string_view, 4> reports{"ranks_sum", "ranks_collective_sum",
                                                  "ranks_range_sum", "ranks_kern_sum"};

std::string whole_ns(double ns) {
  return std::to_string(std::llround(ns));
}

/// Writes [value_of(0), value_of(1), ...].
template <class Value>
void append_list(std::string& to, std::size_t count, Value value_of) {
  auto separator = '[';
  for (std::size_t i = 0; i < count; ++i) {
    to += std::exchange(separator, ',');
    to += value_of(i);
  }
  to += count == 0 ? "[]" : "]";
}

constexpr auto names = kernel_name_style::demangled;

}  // namespace

rank_steps::rank_steps(std::size_t ranks, std::vector<rank_waits> waits)
    : max_steps_(std::max(max_cells / std::max<std::size_t>(ranks, 1), least_steps_shown)),
      waits_(std::move(waits)),
      any_held_(std::ranges::any_of(waits_, [](auto const& of) { return !of.held_ns.empty(); })) {}

void rank_steps::add(report::ledger const& time) {
  auto steps = time.steps;
  auto const warm_up = std::min<std::size_t>(time.first_step, max_steps_);
  longest_ = std::max(longest_, time.first_step + steps.size() + time.more_steps);
  auto const count = std::min(warm_up + steps.size(), max_steps_);
  auto const of_step = [&](std::size_t i, auto value_of) {
    return i < warm_up ? std::string("null") : value_of(steps[i - warm_up]);
  };
  json_members members;
  if (ranks_.size() < waits_.size()) {
    auto const& waits = waits_[ranks_.size()];
    auto const at = [](auto const& list, std::size_t i) { return i < list.size() ? list[i] : 0; };
    for (auto i = warm_up; i < count; ++i) {
      auto& step = steps[i - warm_up];
      auto const held = book_wait_for_held(step.times, static_cast<double>(at(waits.held_ns, i)));
      if (step.period_ns > 0) step.period_ns = std::max(1.0, step.period_ns - held);
    }
    auto const add_waits = [&](char const* name, std::vector<std::uint64_t> const& list) {
      append_list(members.add(name), count, [&](std::size_t i) {
        return i < warm_up ? "null" : std::to_string(at(list, i));
      });
    };
    add_waits("wait_ns", waits.wait_ns);
    if (any_held_) add_waits("held_ns", waits.held_ns);
  }
  append_list(members.add("period_ns"), count, [&](std::size_t i) {
    return of_step(i, [](auto const& step) {
      return step.period_ns > 0 ? whole_ns(step.period_ns) : std::string("null");
    });
  });
  json_members buckets;
  for (std::size_t b = 0; b < time_bucket_count; ++b) {
    auto const bucket = static_cast<time_bucket>(b);
    if (std::all_of(steps.begin(), steps.end(),
                    [&](auto const& step) { return step.times[bucket] <= 0; }))
      continue;
    append_list(buckets.add(report::key_of(bucket)), count, [&](std::size_t i) {
      return of_step(i, [&](auto const& step) { return whole_ns(step.times[bucket]); });
    });
  }
  members.add("ns") += std::move(buckets).take();
  ranks_.push_back(std::move(members));
}

std::string rank_steps::document() const {
  json_members members;
  auto const shown = std::min(longest_, max_steps_);
  members.add("shown") += std::to_string(shown);
  members.add("left_out") += std::to_string(longest_ - shown);
  append_list(members.add("of"), ranks_.size(),
              [&](std::size_t rank) { return json_members(ranks_[rank]).take(); });
  return std::move(members).take();
}

result<std::string> rank_document(capture_set const& set, std::string const& step_name,
                                  bool whole_run, rank_reading const& read,
                                  rank_steps const& steps) {
  advice_inputs asked;
  asked.whole_run = whole_run;
  for (auto const& capture : set.captures) asked.captures.push_back(capture.path);
  asked.step.name = step_name;
  auto const advice = advice_document(asked, nullptr);
  if (!advice) return error{advice.message()};
  json_members members;
  members.add_texts("heading", read.heading());
  members.add_texts("remarks", set.remarks);
  members.add("analyze") += *advice;
  json_members tables;
  for (auto const name : reports)
    tables.add(name) += table_document(read.report(name), max_rows_of_rank);
  members.add("reports") += std::move(tables).take();
  members.add("steps") += steps.document();
  return std::move(members).take();
}

result<void> rank_reading::add(ranked_capture const& capture, std::string const& step_name) {
  auto opened = capture::reader::open(capture.path);
  if (!opened) return error{opened.message()};
  trace_contents trace(*std::move(opened));
  auto const steps = number_steps(trace.ranges(), trace.text(), step_name);
  digests_.push_back(read_digest(trace, {}, range_scope::process,
                                 {.ranges = true, .styles = {names}, .steps = &steps}));
  captures_.push_back(capture);
  heading_.add(trace.overview(), capture);
  return {};
}

finished_report rank_reading::report(std::string_view name) const {
  auto const chosen = *parse_report(name);
  auto finished = report_over_ranks(chosen, captures_, digests_);
  name_missing(finished, chosen.kind);
  return finished;
}

std::set<std::size_t> rank_reading::slowest(std::size_t count) const {
  std::vector<std::size_t> order(digests_.size());
  std::iota(order.begin(), order.end(), 0);
  if (order.empty()) return {};
  std::stable_sort(order.begin() + 1, order.end(), [&](std::size_t a, std::size_t b) {
    return digests_[a].work_ns > digests_[b].work_ns;
  });
  return {order.begin(),
          order.begin() + static_cast<std::ptrdiff_t>(std::min(count, order.size()))};
}

std::vector<rank_waits> rank_reading::waits() const {
  auto const all = collectives_of(captures_, digests_, names);
  if (all.empty()) return {};
  std::vector<rank_waits> waits;
  for (auto& of : waits_by_step(all.of_rank, all.clocks, all.tolerance_ns))
    waits.push_back({std::move(of.by_step), {}});
  auto const for_held = waits_for_held(captures_, digests_, names);
  for (std::size_t rank = 0; rank < waits.size(); ++rank) {
    auto& of = waits[rank];
    timestamp_ns until{};  // collectives of several streams overlap
    for (auto const& [time, step] : for_held[rank]) {
      if (step == no_step) continue;
      of.held_ns.resize(of.wait_ns.size());
      of.wait_ns[step] -= nanoseconds(time.end - time.begin);
      auto const begin = std::max(time.begin, until);
      if (begin < time.end) of.held_ns[step] += nanoseconds(time.end - begin);
      until = std::max(until, time.end);
    }
  }
  return waits;
}

}  // namespace gpuprof::host::command
