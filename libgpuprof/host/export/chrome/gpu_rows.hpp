// SPDX-License-Identifier: Apache-2.0
// Says on which row of the picture the work of a stream is drawn.
#pragma once

#include "host/export/chrome/event_writer.hpp"
#include "model/ids.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace gpuprof::chrome {

enum class row_use : std::uint8_t { ranges, work, waits };

/// Slices of one row must not overlap, or viewers drop them. What would goes to a further row of
/// its stream. Kineto's numbers: a stream's row has the number of the stream, its waits 1000000
/// more.
class gpu_rows {
 public:
  /// Of one stream and use in order of their start.
  track row_for(device_id device, stream_id stream, row_use use, timestamp_ns start,
                std::uint64_t length);
  /// Of a context's waits, which are on no stream.
  track row_for_context(device_id device, context_id context, timestamp_ns start,
                        std::uint64_t length);

  /// For a range that does not nest with others on a row of a stream.
  track row_beside(track of, timestamp_ns start, std::uint64_t length);

  struct row {
    track at;
    std::string name;
    std::uint64_t sort_index = 0;
    std::uint32_t stream = 0;  // or context
  };
  std::vector<row> const& rows() const noexcept { return rows_; }

 private:
  struct key {
    std::uint32_t device = 0, number = 0;
    row_use use{};
    bool is_context = false;
    friend auto operator<=>(key const&, key const&) = default;
  };
  struct lane {
    track at;
    std::uint64_t busy_until = 0;
  };
  track lane_of(key const& of, std::uint64_t start, std::uint64_t end);
  track new_row(key const& of, std::size_t which);

  std::map<key, std::vector<lane>> lanes_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> taken_;
  std::vector<row> rows_;
  key last_key_;
  std::vector<lane>* last_ = nullptr;  // most work is on the stream of the work before
};

}  // namespace gpuprof::chrome
