// SPDX-License-Identifier: Apache-2.0
#include "host/replay/joined_ranks.hpp"

#include "host/analysis/ranks/collective_waits.hpp"
#include "model/kernel_name.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace gpuprof::host::replay {
namespace {

/// Names of several ranks, each once.
class shared_names {
 public:
  explicit shared_names(std::vector<std::string>& to) : to_(to) {}

  /// Returns where each of these names is now.
  std::vector<std::uint32_t> add(std::vector<std::string> const& names) {
    std::vector<std::uint32_t> places;
    for (auto const& name : names) {
      auto const [known, is_new] = known_.try_emplace(name, static_cast<std::uint32_t>(to_.size()));
      if (is_new) to_.push_back(name);
      places.push_back(known->second);
    }
    return places;
  }

 private:
  std::vector<std::string>& to_;
  std::map<std::string, std::uint32_t> known_;
};

class joining {
 public:
  explicit joining(std::int64_t begin_ns) : begin_ns_(begin_ns) {}

  void add(steps_of_rank of) {
    auto& to = made_.steps;
    auto& from = of.steps;
    rank_ = static_cast<std::uint32_t>(to.rank_names.size());
    to.rank_names.push_back(std::move(of.name));
    auto const later_ns = of.begin_ns - begin_ns_;
    if (rank_ == 0) {
      to.step_threads.clear();
      to.end_ns = from.end_ns + later_ns;
      to.steps = from.steps;
    }
    threads_.clear();
    devices_.clear();
    to.step_threads.push_back(thread_of(from.step_threads.front()));
    auto const works = works_.add(from.work_names), calls = calls_.add(from.call_names);
    auto const ranges = ranges_.add(from.range_names);
    bases_.add(works, from.base_names);
    auto const first_stream = streams_;
    for (auto item : from.items) {
      streams_ = std::max(streams_, first_stream + item.stream + 1);
      item.stream += first_stream;
      item.start_ns += later_ns;
      item.end_ns += later_ns;
      item.launched_ns += later_ns;
      item.thread = thread_of(item.thread);
      item.device = device_of(item.device);
      item.name = works[item.name];
      to.items.push_back(item);
    }
    for (auto call : from.calls) {
      call.begin_ns += later_ns;
      call.end_ns += later_ns;
      call.thread = thread_of(call.thread);
      call.name = calls[call.name];
      to.calls.push_back(call);
    }
    for (auto hold : from.holds)
      to.holds.push_back({hold.begin_ns + later_ns, hold.end_ns + later_ns, rank_});
    auto const first_range = static_cast<std::uint32_t>(to.ranges.size());
    for (auto range : from.ranges) {
      range.begin_ns += later_ns;
      range.end_ns += later_ns;
      range.thread = thread_of(range.thread);
      range.name = ranges[range.name];
      if (range.parent != nothing) range.parent += first_range;
      to.ranges.push_back(range);
    }
  }

  joined_ranks finish(std::uint64_t tolerance_ns) {
    made_.steps.base_names = bases_.take(made_.steps.work_names.size());
    std::sort(made_.steps.items.begin(), made_.steps.items.end(),
              [](auto const& a, auto const& b) { return a.start_ns < b.start_ns; });
    find_meetings(tolerance_ns);
    return std::move(made_);
  }

 private:
  class base_names {
   public:
    void add(std::vector<std::uint32_t> const& places, std::vector<std::string> const& names) {
      for (std::size_t i = 0; i < std::min(places.size(), names.size()); ++i)
        of_[places[i]] = names[i];
    }
    std::vector<std::string> take(std::size_t count) {
      std::vector<std::string> all(of_.empty() ? 0 : count);
      for (auto& [place, name] : of_) all[place] = std::move(name);
      return all;
    }

   private:
    std::map<std::uint32_t, std::string> of_;
  };

  using new_numbers = std::map<std::uint32_t, std::uint32_t>;

  std::uint32_t thread_of(std::uint32_t thread) {
    return number_of(thread, threads_, made_.steps.rank_of_thread);
  }
  std::uint32_t device_of(std::uint32_t device) {
    return number_of(device, devices_, made_.steps.rank_of_device);
  }
  std::uint32_t number_of(std::uint32_t old, new_numbers& known,
                          std::vector<std::uint32_t>& ranks) const {
    auto const [number, is_new] = known.try_emplace(old, static_cast<std::uint32_t>(ranks.size()));
    if (is_new) ranks.push_back(rank_);
    return number->second;
  }

  void find_meetings(std::uint64_t tolerance_ns) {
    // Times count from the first step and may be negative; occurrences cannot.
    constexpr std::int64_t shift_ns = std::int64_t{1} << 60;
    auto& steps = made_.steps;
    auto const ranks = steps.rank_names.size();
    std::vector<collective_occurrences> times(ranks);
    std::vector<std::map<std::string, std::vector<std::uint32_t>>> items(ranks);
    for (std::uint32_t i = 0; i < steps.items.size(); ++i) {
      auto const& item = steps.items[i];
      auto const& name = steps.work_names[item.name];
      if (item.kind != work_kind::kernel || !is_collective(item.name)) continue;
      auto const rank = steps.rank_of(item);
      times[rank][name].push_back(
          {timestamp_ns{static_cast<std::uint64_t>(item.start_ns + shift_ns)},
           timestamp_ns{static_cast<std::uint64_t>(item.end_ns + shift_ns)}});
      items[rank][name].push_back(i);
    }
    std::vector<collective_occurrences const*> of_rank;
    for (auto const& one : times) of_rank.push_back(&one);
    clock_offsets clocks;
    clocks.of_rank.assign(ranks, 0);
    auto const place_of = [&](std::size_t rank, occurrence const& one) -> std::uint32_t {
      for (auto const& [known, all] : times[rank]) {
        if (all.empty() || &one < all.data() || &one >= all.data() + all.size()) continue;
        return items[rank][known][static_cast<std::size_t>(&one - all.data())];
      }
      return nothing;
    };
    auto const rows = collective_waits(
        of_rank, clocks, tolerance_ns,
        [&](std::size_t rank, occurrence const& one, std::uint64_t, std::uint32_t run) {
          if (auto const item = place_of(rank, one); item != nothing)
            steps.items[item].meeting = run;
          steps.meetings = std::max(steps.meetings, run + 1);
        });
    for (auto const& row : rows) made_.unmatched += row.unmatched;
  }

  bool is_collective(std::uint32_t name) {
    if (collectives_.size() <= name) collectives_.resize(made_.steps.work_names.size());
    if (!collectives_[name])
      collectives_[name] = is_named_as_collective(made_.steps.work_names[name]);
    return *collectives_[name];
  }

  std::int64_t begin_ns_;  // of the earliest rank
  joined_ranks made_;
  std::uint32_t rank_ = 0, streams_ = 0;
  new_numbers threads_, devices_;  // of the rank that is added
  shared_names works_{made_.steps.work_names}, calls_{made_.steps.call_names},
      ranges_{made_.steps.range_names};
  base_names bases_;
  std::vector<std::optional<bool>> collectives_;  // by name
};

}  // namespace

joined_ranks join_ranks(std::vector<steps_of_rank> ranks, std::uint64_t tolerance_ns) {
  auto const earliest =
      std::min_element(ranks.begin(), ranks.end(),
                       [](auto const& a, auto const& b) { return a.begin_ns < b.begin_ns; });
  joining all(earliest->begin_ns);
  for (auto& one : ranks) all.add(std::move(one));
  return all.finish(tolerance_ns);
}

}  // namespace gpuprof::host::replay
