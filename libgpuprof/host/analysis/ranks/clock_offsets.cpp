// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/ranks/clock_offsets.hpp"

#include <algorithm>
#include <cctype>

namespace gpuprof::host {
namespace {

// The thread may have been descheduled between reading the two clocks.
constexpr std::int64_t min_step = 1'000'000, hour = 3'600'000'000'000;
constexpr std::size_t min_ends = 3;

std::int64_t difference(timestamp_ns a, timestamp_ns b) noexcept {
  return static_cast<std::int64_t>(a.value - b.value);
}

/// A host and its ranks. Hosts are in order of their first rank.
struct host_ranks {
  std::string host;
  std::vector<std::size_t> ranks;
};

std::vector<host_ranks> group_by_host(std::span<rank_timeline const> ranks) {
  std::vector<host_ranks> hosts;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    auto const known = std::find_if(hosts.begin(), hosts.end(), [&](auto const& h) {
      return !ranks[i].host.empty() && h.host == ranks[i].host;
    });
    if (known != hosts.end())
      known->ranks.push_back(i);
    else
      hosts.push_back({ranks[i].host, {i}});
  }
  return hosts;
}

/// Returns by how much the host's wall clock was set between the starts of its first rank and of
/// this one. A reboot restarts the monotonic clock; then the difference says nothing.
std::int64_t step_since(rank_timeline const& first, rank_timeline const& rank) noexcept {
  if (!first.wall_over_monotonic || !rank.wall_over_monotonic) return 0;
  auto const step = *rank.wall_over_monotonic - *first.wall_over_monotonic;
  return std::abs(step) > min_step && std::abs(step) < hour ? step : 0;
}

void add_differences(std::vector<std::int64_t>& to, rank_timeline const& reference,
                     rank_timeline const& rank, std::int64_t steps) {
  if (reference.collectives == nullptr || rank.collectives == nullptr) return;
  for (auto const& [name, theirs] : *rank.collectives) {
    auto const mine = reference.collectives->find(name);
    if (mine == reference.collectives->end() || mine->second.size() != theirs.size()) continue;
    if (!ends_together(name)) continue;
    for (std::size_t k = 0; k < theirs.size(); ++k)
      to.push_back(difference(theirs[k].end, mine->second[k].end) - steps);
  }
}

void take_median(host_clock& clock, std::vector<std::int64_t>& differences) {
  if (differences.size() < min_ends) return;
  std::sort(differences.begin(), differences.end());
  auto const n = differences.size();
  clock.ahead_ns = differences[n / 2];
  clock.error_ns =
      static_cast<std::uint64_t>(differences[n - 1 - n / 10] - differences[n / 10]) / 2;
  clock.ends = n;
}

}  // namespace

bool ends_together(std::string_view kernel) {
  std::string letters;
  for (char const c : kernel)
    if (c != '_') letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (auto const* const word : {"allreduce", "allgather", "reducescatter", "alltoall"})
    if (letters.find(word) != std::string::npos) return true;
  return false;
}

clock_offsets offsets_of(std::span<rank_timeline const> ranks) {
  clock_offsets offsets;
  offsets.of_rank.assign(ranks.size(), 0);
  auto const hosts = group_by_host(ranks);
  for (auto const& [host, members] : hosts) {
    host_clock clock;
    clock.host = host;
    for (auto const i : members) {
      offsets.of_rank[i] = step_since(ranks[members.front()], ranks[i]);
      clock.was_stepped = clock.was_stepped || offsets.of_rank[i] != 0;
    }
    auto const& reference = ranks[hosts.front().ranks.front()];
    if (!offsets.hosts.empty()) {
      std::vector<std::int64_t> differences;
      for (auto const i : members)
        add_differences(differences, reference, ranks[i], offsets.of_rank[i]);
      take_median(clock, differences);
    }
    for (auto const i : members) offsets.of_rank[i] += clock.ahead_ns;
    offsets.hosts.push_back(std::move(clock));
  }
  return offsets;
}

}  // namespace gpuprof::host
