// SPDX-License-Identifier: Apache-2.0
#include "host/export/chrome/gpu_rows.hpp"

#include <algorithm>

namespace gpuprof::chrome {
namespace {

constexpr std::uint64_t first_of_waits = 1'000'000, first_of_others = 2'000'000;

std::uint64_t wanted_number(std::uint32_t number, row_use use, bool is_context, std::size_t lane) {
  if (use == row_use::work && lane == 0) return number;
  if (use == row_use::waits && lane == 0 && !is_context) return first_of_waits + number;
  return first_of_others + number;
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

}  // namespace gpuprof::chrome
