// SPDX-License-Identifier: Apache-2.0
// Returns the time of a record, for every kind of record that has one.
#pragma once

#include "base/time.hpp"
#include "capture/reader.hpp"
#include "model/records.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

namespace gpuprof::host {

/// Empty: no limit.
using time_stretches = std::vector<time_stretch>;

inline bool is_within(timestamp_ns time, time_stretches const& stretches) noexcept {
  return stretches.empty() ||
         std::any_of(stretches.begin(), stretches.end(), [time](time_stretch const& one) {
           return one.begin <= time && time < one.end;
         });
}

/// The member that holds the start time of a record.
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

template <class Row>
concept has_time = requires(Row row) {
  row.start;
}
|| requires(Row row) {
  row.opened;
}
|| requires(Row row) {
  row.realtime;
}
|| requires(Row row) {
  row.time;
};

/// Extends the times of a block by those of its rows.
template <class Row>
void widen(std::optional<capture::block_times>& times, std::span<Row const> rows) {
  if (!times && !rows.empty()) times.emplace();
  for (auto const& row : rows) {
    times->first = std::min(times->first, time_of(row));
    times->last = std::max(times->last, time_of(row));
  }
}

/// Records of what a GPU did.
template <class Row>
concept is_gpu_work = requires(Row row) {
  row.launched;
  row.device;
};

/// Adds the GPUs of rows to those of their block.
template <is_gpu_work Row>
void note_devices(capture::block_devices& devices, std::span<Row const> rows) {
  for (auto const& row : rows)
    if (devices.empty() || devices.back() != row.device) {  // mostly that of the row before
      std::erase(devices, row.device);
      devices.push_back(row.device);
    }
}

}  // namespace gpuprof::host
