// SPDX-License-Identifier: Apache-2.0
#include "report_page/rank_document.hpp"

#include "host/report/advice_words.hpp"
#include "report_page/json_members.hpp"
#include "report_page/page_documents.hpp"
#include "report_page/table_document.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace gpuprof {
namespace {

// A heat map of more is as wide as no screen, and slow to draw.
constexpr std::size_t max_cells = 60'000, least_steps_shown = 20;
constexpr std::size_t max_rows_of_rank = 1000;
constexpr std::array<std::string_view, 4> reports{"ranks_sum", "ranks_collective_sum",
                                                  "ranks_range_sum", "ranks_kern_sum"};

std::string whole_ns(double ns) {
  return std::to_string(std::llround(ns));
}

/// [value_of(0), value_of(1), ...]
template <class Value>
void append_list(std::string& to, std::size_t count, Value value_of) {
  auto separator = '[';
  for (std::size_t i = 0; i < count; ++i) {
    to += std::exchange(separator, ',');
    to += value_of(i);
  }
  to += count == 0 ? "[]" : "]";
}

}  // namespace

rank_steps::rank_steps(std::size_t ranks)
    : max_steps_(std::max(max_cells / std::max<std::size_t>(ranks, 1), least_steps_shown)) {}

void rank_steps::add(report::ledger const& time) {
  auto const& steps = time.steps;
  longest_ = std::max(longest_, steps.size() + time.more_steps);
  auto const count = std::min(steps.size(), max_steps_);
  json_members members;
  append_list(members.add("period_ns"), count, [&](std::size_t i) {
    return steps[i].period_ns > 0 ? whole_ns(steps[i].period_ns) : std::string("null");
  });
  json_members buckets;
  for (std::size_t b = 0; b < time_bucket_count; ++b) {
    auto const bucket = static_cast<time_bucket>(b);
    if (std::all_of(steps.begin(), steps.end(),
                    [&](auto const& step) { return step.times[bucket] <= 0; }))
      continue;
    append_list(buckets.add(report::key_of(bucket)), count,
                [&](std::size_t i) { return whole_ns(steps[i].times[bucket]); });
  }
  members.add("ns") += std::move(buckets).take();
  ranks_.push_back({count, std::move(members)});
}

std::string rank_steps::document(std::vector<std::vector<std::uint64_t>> const& waits) const {
  json_members members;
  auto const shown = std::min(longest_, max_steps_);
  members.add("shown") += std::to_string(shown);
  members.add("left_out") += std::to_string(longest_ - shown);
  append_list(members.add("of"), ranks_.size(), [&](std::size_t rank) {
    auto const steps = ranks_[rank].count;
    auto of = ranks_[rank].members;
    if (rank < waits.size())
      append_list(of.add("wait_ns"), steps, [&](std::size_t i) {
        auto const& wait = waits[rank];
        return std::to_string(i < wait.size() ? wait[i] : 0);
      });
    return std::move(of).take();
  });
  return std::move(members).take();
}

result<std::string> rank_document(capture_set const& set, std::string const& step_name,
                                  rank_reading const& read, rank_steps const& steps) {
  advice_inputs asked;
  for (auto const& capture : set.captures) asked.captures.push_back(capture.path);
  asked.step_name = step_name;
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
  members.add("steps") += steps.document(read.waits());
  return std::move(members).take();
}

}  // namespace gpuprof
