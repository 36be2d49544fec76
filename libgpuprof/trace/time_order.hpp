// SPDX-License-Identifier: Apache-2.0
// When a record of a trace happened, for every kind of record that has a time.
#pragma once

#include "model/records.hpp"

#include <algorithm>
#include <vector>

namespace gpuprof {

/// Moments from `begin` until before `end`.
struct time_window {
  timestamp_ns begin{0};
  timestamp_ns end{~std::uint64_t{0}};
};
/// No windows: no limit.
using time_windows = std::vector<time_window>;

inline bool is_within(timestamp_ns time, time_windows const& windows) noexcept {
  return windows.empty() ||
         std::any_of(windows.begin(), windows.end(), [time](time_window const& window) {
           return window.begin <= time && time < window.end;
         });
}

/// The member that says when such a record began.
template <class Row>
constexpr auto time_member() noexcept {
  if constexpr (requires(Row row) { row.start; })
    return &Row::start;
  else if constexpr (requires(Row row) { row.opened; })
    return &Row::opened;
  else if constexpr (requires(Row row) { row.realtime; })
    return &Row::realtime;
  else
    return &Row::time;
}

template <class Row>
timestamp_ns time_of(Row const& row) noexcept {
  return row.*time_member<Row>();
}

}  // namespace gpuprof
