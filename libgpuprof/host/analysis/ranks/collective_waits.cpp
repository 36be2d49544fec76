// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/ranks/collective_waits.hpp"

#include <algorithm>
#include <map>

namespace gpuprof::host {
namespace {

/// The runs of one collective on one rank; those before `at` are done.
struct rank_series {
  std::size_t rank = 0;
  std::span<occurrence const> occurrences;
  std::int64_t ahead = 0;
  std::size_t at = 0;
  std::uint64_t times_last = 0, wait_ns = 0;

  bool is_over() const noexcept { return at == occurrences.size(); }
  std::int64_t start() const noexcept { return corrected(occurrences[at].start); }
  std::int64_t end() const noexcept { return corrected(occurrences[at].end); }

 private:
  std::int64_t corrected(timestamp_ns time) const noexcept {
    return static_cast<std::int64_t>(time.value) - ahead;
  }
};

class matching {
 public:
  matching(std::string name, std::vector<rank_series> series, std::int64_t tolerance,
           std::uint32_t& runs, wait_listener const& heard)
      : series_(std::move(series)), tolerance_(tolerance), runs_(runs), heard_(heard) {
    row_.name = std::move(name);
    row_.ranks = series_.size();
  }

  collective_row run() {
    auto const is_over = [](auto const& s) { return s.is_over(); };
    while (std::none_of(series_.begin(), series_.end(), is_over)) {
      auto const* const last = last_to_start();
      if (drop_those_before(last->start() - tolerance_)) continue;
      take(last->rank, last->start());
    }
    for (auto const& s : series_) row_.unmatched += s.occurrences.size() - s.at;
    if (row_.matched > 0) summarize();
    return std::move(row_);
  }

 private:
  rank_series const* last_to_start() const {
    return &*std::max_element(series_.begin(), series_.end(),
                              [](auto const& a, auto const& b) { return a.start() < b.start(); });
  }

  /// Drops runs that ended before another rank began: they have no counterpart there.
  bool drop_those_before(std::int64_t moment) {
    bool any = false;
    for (auto& s : series_)
      if (s.end() < moment) {
        ++s.at;
        ++row_.unmatched;
        any = true;
      }
    return any;
  }

  void take(std::size_t last, std::int64_t last_start) {
    ++row_.matched;
    std::int64_t first_start = last_start;
    for (auto& s : series_) {
      first_start = std::min(first_start, s.start());
      auto const wait = static_cast<std::uint64_t>(last_start - s.start());
      s.wait_ns += wait;
      if (heard_) heard_(s.rank, s.occurrences[s.at], wait, runs_);
      s.times_last += s.rank == last ? 1 : 0;
      row_.kernel_ns += static_cast<std::uint64_t>(std::max<std::int64_t>(s.end() - s.start(), 0));
      ++s.at;
    }
    ++runs_;
    spread_.add(static_cast<std::uint64_t>(last_start - first_start));
  }

  void summarize() {
    auto const& last =
        *std::max_element(series_.begin(), series_.end(),
                          [](auto const& a, auto const& b) { return a.times_last < b.times_last; });
    row_.last = last.rank;
    row_.times_last = last.times_last;
    row_.waits_longest =
        std::max_element(series_.begin(), series_.end(), [](auto const& a, auto const& b) {
          return a.wait_ns < b.wait_ns;
        })->rank;
    for (auto const& s : series_) row_.wait_ns += s.wait_ns;
    row_.start_spread = spread_.summarize();
  }

  std::vector<rank_series> series_;
  std::int64_t tolerance_;
  std::uint32_t& runs_;
  wait_listener const& heard_;
  samples spread_;
  collective_row row_;
};

}  // namespace

std::vector<collective_row> collective_waits(std::span<collective_occurrences const* const> ranks,
                                             clock_offsets const& clocks,
                                             std::uint64_t tolerance_ns,
                                             wait_listener const& heard) {
  std::map<std::string, std::vector<rank_series>> by_name;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    for (auto const& [name, occurrences] : *ranks[i])
      by_name[name].push_back({i, occurrences, clocks.of_rank[i]});
  std::vector<collective_row> rows;
  std::uint32_t runs = 0;
  for (auto& [name, series] : by_name) {
    if (series.size() < 2) {
      collective_row alone;
      alone.name = name;
      alone.ranks = 1;
      alone.unmatched = series.front().occurrences.size();
      rows.push_back(std::move(alone));
      continue;
    }
    rows.push_back(
        matching(name, std::move(series), static_cast<std::int64_t>(tolerance_ns), runs, heard)
            .run());
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](auto const& a, auto const& b) { return a.wait_ns > b.wait_ns; });
  return rows;
}

std::vector<waits_of_rank> waits_by_step(std::span<collective_occurrences const* const> ranks,
                                         clock_offsets const& clocks, std::uint64_t tolerance_ns) {
  std::vector<waits_of_rank> waits(ranks.size());
  collective_waits(
      ranks, clocks, tolerance_ns,
      [&](std::size_t rank, occurrence const& kernel, std::uint64_t wait_ns, std::uint32_t) {
        auto& of = waits[rank];
        if (kernel.step == no_step) {
          of.outside_ns += wait_ns;
          return;
        }
        auto const steps = std::size_t{kernel.step} + 1;
        of.by_step.resize(std::max(of.by_step.size(), steps));
        of.by_step[kernel.step] += wait_ns;
      });
  return waits;
}

}  // namespace gpuprof::host
