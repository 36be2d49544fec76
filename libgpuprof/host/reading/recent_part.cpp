// SPDX-License-Identifier: Apache-2.0
#include "host/reading/recent_part.hpp"

#include "host/reading/time_order.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace gpuprof::host {
namespace {

// A record may come this long after later ones, because a running kernel makes CUPTI hold back
// records of others.
constexpr duration_ns late{10'000'000'000};

timestamp_ns before(timestamp_ns moment, duration_ns length) noexcept {
  auto const ns = static_cast<std::uint64_t>(length.value);
  return {moment.value > ns ? moment.value - ns : 0};
}

timestamp_ns after(timestamp_ns moment, duration_ns length) noexcept {
  auto const latest = timestamp_ns{~std::uint64_t{0}};
  return moment < before(latest, length) ? moment + length : latest;
}

/// Returns nothing if the block is damaged.
template <class Row>
std::optional<capture::block_times> times_of(capture::reader& file, std::size_t block) {
  if (auto const& noted = file.times_of(block)) return noted;
  std::optional<capture::block_times> times;
  file.for_each_in<Row>(
      block, [&](std::span<Row const> rows) { widen(times, rows); },
      capture::only(time_member<Row>()));
  if (times) file.note_times(block, *times);
  return times;
}

template <class Row>
timestamp_ns last_time(capture::reader& file) {
  auto const blocks = file.blocks_of<Row>();
  if (blocks.empty()) return {};
  auto const times = times_of<Row>(file, blocks.back());
  return times ? times->last : timestamp_ns{};
}

/// Rows are at most `late` behind the rows before them, so a few blocks show where a stretch begins
/// and ends.
template <class Row>
void keep(capture::reader& file, time_stretches const& wanted) {
  auto const blocks = file.blocks_of<Row>();
  std::vector<std::size_t> kept;
  for (auto const& stretch : wanted) {
    auto const first = std::partition_point(blocks.begin(), blocks.end(), [&](std::size_t block) {
      auto const times = times_of<Row>(file, block);
      return times && times->last < before(stretch.begin, late);
    });
    auto const end = std::partition_point(first, blocks.end(), [&](std::size_t block) {
      auto const times = times_of<Row>(file, block);
      return !times || times->first <= after(stretch.end, late);
    });
    for (auto at = first; at != end; ++at)
      if (kept.empty() || kept.back() < *at) kept.push_back(*at);
  }
  file.keep_blocks<Row>(kept);
}

/// Returns the times around readings and the part itself, in order of time. Those that `late` joins
/// are one.
time_stretches times_of_readings(capture::reader& file, time_stretch const& part) {
  time_stretches all{part};
  file.for_each<read_launch_record>(
      [&](std::span<read_launch_record const> launches) {
        for (auto const& launch : launches) all.push_back({launch.opened, launch.closed});
      },
      capture::only(&read_launch_record::opened, &read_launch_record::closed));
  std::sort(all.begin(), all.end(),
            [](time_stretch const& a, time_stretch const& b) { return a.begin < b.begin; });
  time_stretches joined;
  for (auto const& one : all)
    if (!joined.empty() && one.begin <= after(joined.back().end, late))
      joined.back().end = std::max(joined.back().end, one.end);
    else
      joined.push_back(one);
  return joined;
}

}  // namespace

time_stretch keep_recent(capture::reader& file, recent_part const& part) {
  auto const last = std::max({last_time<kernel_record>(file), last_time<graph_record>(file),
                              last_time<copy_record>(file), last_time<memset_record>(file)});
  auto const until = std::min(last, timestamp_ns{part.until});
  time_stretch const recent{before(until, {static_cast<std::int64_t>(part.length)}),
                            timestamp_ns{part.until}};
  auto const work = times_of_readings(file, recent);
  keep<kernel_record>(file, work);
  keep<graph_record>(file, work);
  keep<copy_record>(file, work);
  keep<memset_record>(file, work);
  keep<sample_record>(file, {recent});
  return recent;
}

}  // namespace gpuprof::host
