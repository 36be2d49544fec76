// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/ranks/held_waits.hpp"

#include <algorithm>
#include <limits>

namespace gpuprof::host {
namespace {

/// A rank's part of one run of a collective.
struct part {
  std::size_t rank = 0;
  timestamp_ns start;
  std::int64_t wait_ns = 0;
  std::uint32_t step = no_step;
};

class finding {
 public:
  finding(std::span<collective_occurrences const* const> ranks, std::span<held_times const> held)
      : held_(held), ends_(ranks.size()), found_(ranks.size()) {
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      for (auto const& [_, occurrences] : *ranks[rank])
        for (auto const& one : occurrences) ends_[rank].push_back(one.end);
      std::sort(ends_[rank].begin(), ends_[rank].end());
    }
  }

  void add(part const& one, std::uint32_t run) {
    if (run != run_) close();
    run_ = run;
    parts_.push_back(one);
  }

  std::vector<std::vector<held_wait>> finish() {
    close();
    for (auto& of : found_)
      std::sort(of.begin(), of.end(),
                [](auto const& a, auto const& b) { return a.time.begin < b.time.begin; });
    return std::move(found_);
  }

 private:
  std::int64_t held_ns(part const& one) const {
    auto const& ends = ends_[one.rank];
    auto const next = std::upper_bound(ends.begin(), ends.end(), one.start);
    auto const from = next == ends.begin() ? timestamp_ns{} : *std::prev(next);
    return static_cast<std::int64_t>(held_[one.rank].between(from, one.start));
  }

  /// Times count back from the moment at which the last rank began.
  void close() {
    auto begin_ns = std::numeric_limits<std::int64_t>::min();  // without the profiler
    for (auto const& one : parts_) begin_ns = std::max(begin_ns, -one.wait_ns - held_ns(one));
    for (auto const& one : parts_) {
      auto const from = std::max(begin_ns, -one.wait_ns);
      if (from >= 0) continue;
      auto const last = one.start + duration_ns{one.wait_ns};
      found_[one.rank].push_back({{last + duration_ns{from}, last}, one.step});
    }
    parts_.clear();
  }

  std::span<held_times const> held_;
  std::vector<std::vector<timestamp_ns>> ends_;  // of all collectives, by rank
  std::vector<std::vector<held_wait>> found_;
  std::vector<part> parts_;
  std::uint32_t run_ = 0;
};

}  // namespace

held_times::held_times(std::vector<time_stretch> stretches) {
  std::sort(stretches.begin(), stretches.end(),
            [](auto const& a, auto const& b) { return a.begin < b.begin; });
  for (auto const& one : stretches)
    if (stretches_.empty() || one.begin > stretches_.back().end)
      stretches_.push_back(one);
    else
      stretches_.back().end = std::max(stretches_.back().end, one.end);
}

void held_idle_times::add_work(timestamp_ns start, timestamp_ns end) {
  auto const& held = held_.all();
  while (next_ < held.size() && held[next_].end <= busy_until_) ++next_;
  for (auto i = next_; i < held.size() && held[i].begin < start; ++i)
    if (auto const from = std::max(held[i].begin, busy_until_), to = std::min(held[i].end, start);
        from < to)
      idle_.push_back({from, to});
  busy_until_ = std::max(busy_until_, end);
}

std::uint64_t held_times::between(timestamp_ns from, timestamp_ns to) const noexcept {
  std::uint64_t sum = 0;
  auto next = std::partition_point(stretches_.begin(), stretches_.end(),
                                   [&](auto const& one) { return one.end <= from; });
  for (; next != stretches_.end() && next->begin < to; ++next)
    sum += std::min(next->end, to).value - std::max(next->begin, from).value;
  return sum;
}

std::vector<std::vector<held_wait>> waits_for_held(
    std::span<collective_occurrences const* const> ranks, clock_offsets const& clocks,
    std::uint64_t tolerance_ns, std::span<held_times const> held) {
  finding all(ranks, held);
  if (std::ranges::any_of(held, [](auto const& of) { return !of.empty(); }))
    collective_waits(
        ranks, clocks, tolerance_ns,
        [&](std::size_t rank, occurrence const& kernel, std::uint64_t wait_ns, std::uint32_t run) {
          all.add({rank, kernel.start, static_cast<std::int64_t>(wait_ns), kernel.step}, run);
        });
  return all.finish();
}

}  // namespace gpuprof::host
