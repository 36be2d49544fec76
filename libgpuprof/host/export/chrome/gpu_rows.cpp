// SPDX-License-Identifier: Apache-2.0
#include "host/export/chrome/gpu_rows.hpp"

#include <algorithm>

namespace gpuprof::host::chrome {
namespace {

constexpr std::uint64_t first_of_waits = 1'000'000, first_of_others = 2'000'000;

std::uint64_t wanted_number(std::uint32_t number, row_use use, bool is_context, std::size_t lane) {
  if (use == row_use::work && lane == 0) return number;
  if (use == row_use::waits && lane == 0 && !is_context) return first_of_waits + number;
  return first_of_others + number;
}

// 200 bytes each while they are read.
constexpr std::uint64_t max_ranges = 1'000'000;

constexpr std::uint64_t key_of(std::uint32_t range, std::uint32_t row) noexcept {
  return (std::uint64_t{range} << 32) | row;
}

template <class Extent>
void widen(Extent& of, Extent const& by) noexcept {
  of.first = of.last == 0 ? by.first : std::min(of.first, by.first);
  of.last = std::max(of.last, by.last);
}

}  // namespace

track gpu_rows::row_for(device_id device, stream_id stream, row_use use, timestamp_ns start,
                        std::uint64_t length) {
  return lane_of({raw(device), raw(stream), use, false}, start.value, start.value + length);
}

track gpu_rows::row_for_context(device_id device, context_id context, timestamp_ns start,
                                std::uint64_t length) {
  return lane_of({raw(device), raw(context), row_use::waits, true}, start.value,
                 start.value + length);
}

track gpu_rows::row_beside(track of, timestamp_ns start, std::uint64_t length) {
  auto const known = std::find_if(rows_.begin(), rows_.end(), [&](row const& made) {
    return made.at.process == of.process && made.at.thread == of.thread;
  });
  return lane_of({static_cast<std::uint32_t>(of.process), known->stream, row_use::ranges, false},
                 start.value, start.value + length);
}

track gpu_rows::lane_of(key const& of, std::uint64_t start, std::uint64_t end) {
  if (last_ == nullptr || of != last_key_) {
    last_ = &lanes_[of];
    last_key_ = of;
  }
  for (auto& known : *last_) {
    if (known.busy_until > start) continue;
    known.busy_until = end;
    return known.at;
  }
  last_->push_back({new_row(of, last_->size()), end});
  return last_->back().at;
}

track gpu_rows::new_row(key const& of, std::size_t which) {
  auto number = wanted_number(of.number, of.use, of.is_context, which);
  while (!taken_.emplace(of.device, number).second) ++number;
  row made{{of.device, number}, {}, 0, of.number};
  made.name = (of.is_context ? "context " : "stream ") + std::to_string(of.number);
  if (of.use == row_use::waits) made.name += " (sync)";
  if (of.use == row_use::ranges) made.name += " (ranges)";
  if (which != 0) made.name += " (" + std::to_string(which + 1) + ")";
  // Rows of a stream stay together.
  auto const use = static_cast<std::uint64_t>(of.use);
  made.sort_index = (std::uint64_t{of.number} * 4 + use) * 256 + std::min<std::size_t>(which, 255);
  rows_.push_back(made);
  return made.at;
}

gpu_annotations::gpu_annotations(trace_contents& trace)
    : trace_(&trace),
      is_complete_(trace.file().row_count<range_begin>() <= max_ranges),
      // A trace of Kineto that had none gets none.
      is_on_(is_complete_ && (trace.fact("import.format") != "Kineto trace" ||
                              !trace.fact("import.gpu_user_annotations").empty())) {}

std::uint32_t gpu_annotations::number_of(track row) {
  auto const is_it = [&](track of) { return of.process == row.process && of.thread == row.thread; };
  if (last_row_ < rows_.size() && is_it(rows_[last_row_])) return last_row_;
  auto const known = std::find_if(rows_.begin(), rows_.end(), is_it);
  last_row_ = static_cast<std::uint32_t>(known - rows_.begin());
  if (known == rows_.end()) rows_.push_back(row);
  return last_row_;
}

void gpu_annotations::see(std::uint32_t range, track row, std::uint64_t first, std::uint64_t last) {
  widen(extents_[key_of(range, number_of(row))], {first, std::max(first, last)});
}

/// In the order in which rows are drawn: by row, then start, the longer one first.
std::vector<gpu_annotations::placed> gpu_annotations::with_parents() {
  // Inner ranges have greater numbers than those around them.
  std::map<std::uint64_t, extent, std::greater<>> all(extents_.begin(), extents_.end());
  std::vector<placed> found;
  for (auto const& [key, at] : all) {
    auto const range = static_cast<std::uint32_t>(key >> 32), row = static_cast<std::uint32_t>(key);
    found.push_back({range, row, at});
    if (auto const parent = trace_->ranges()[range].parent; parent != no_range)
      widen(all[key_of(parent, row)], at);
  }
  std::sort(found.begin(), found.end(), [](placed const& a, placed const& b) {
    return std::tuple(a.row, a.at.first, ~a.at.last, a.range) <
           std::tuple(b.row, b.at.first, ~b.at.last, b.range);
  });
  return found;
}

void gpu_annotations::write(event_writer& to, quoted_names& names, gpu_rows& rows) {
  std::vector<std::uint64_t> open;  // ends of those around, on one row
  std::uint32_t last_row = 0;
  for (auto const& [range, row, at] : with_parents()) {
    if (std::exchange(last_row, row) != row) open.clear();
    while (!open.empty() && open.back() <= at.first) open.pop_back();
    auto const& of = trace_->ranges()[range];
    // Too many, and Kineto has none.
    auto const is_operator = trace_->text()(of.domain) == operators_of_kineto;
    if (is_operator || !names.of_operator(of.name).empty()) continue;
    auto where = rows_[row];
    auto const nests = open.empty() || at.last <= open.back();
    if (nests)
      open.push_back(at.last);
    else
      where = rows.row_beside(where, {at.first}, at.last - at.first);
    to.begin_slice(
        {"gpu_user_annotation", names.of(of.name), where, {at.first}, at.last - at.first});
    to.end_slice();
  }
}

}  // namespace gpuprof::host::chrome
