// SPDX-License-Identifier: Apache-2.0
// The pieces of a capture that a timeline shows, in order of time, with their rows.
#pragma once

#include <gpuprof/capture.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpuprof::host::page {

/// The row of a stream or thread. Pieces that overlap on it take several lanes.
struct row_key {
  int group = 0;                     // 0: GPUs, 1: ranges, 2: calls
  std::uint64_t of = 0, number = 0;  // GPU and stream, thread and domain
  auto operator<=>(row_key const&) const = default;
};

/// A kernel, graph, copy, fill, range or call.
struct timeline_piece {
  row_key row;
  std::uint64_t start_ns = 0, length_ns = 0;
  std::string_view what;      // equal texts have the same address while timeline_pieces lives
  std::size_t max_lanes = 0;  // of its row, for pieces of its kind
};

/// True if the moment lies in one of the stretches.
bool is_in(std::vector<captured_stretch> const& stretches, std::uint64_t moment_ns) noexcept;

/// A lane of a row, and the end of its last piece.
struct used_lane {
  std::size_t lane = 0;  // index in timeline_bars
  std::uint64_t busy_until_ns = 0;
};
using lanes_by_row = std::map<row_key, std::vector<used_lane>>;  // from top to bottom

/// Returns the topmost lane that is free at this time; the number of lanes if none is.
std::size_t first_free(std::vector<used_lane> const& lanes, std::uint64_t start_ns) noexcept;

/// Returns at most 300 bytes, because kernel names reach 10 kB.
std::string shortened_name(std::string_view name);

/// Receives the records of a capture from which pieces are made, and further records.
class record_listener {
 public:
  virtual ~record_listener() = default;
  virtual void add(captured_kernel const&) {}
  virtual void add(captured_graph const&) {}
  virtual void add(captured_copy const&) {}
  virtual void add(captured_fill const&) {}
  virtual void add(captured_range const&) {}
  virtual void add(captured_call const&) {}
  virtual void add(captured_sample const&) {}
  virtual void add(captured_chip_state const&) {}
};

class timeline_pieces {
 public:
  /// The capture must outlive this object.
  explicit timeline_pieces(capture_file& capture) : run_(capture) {}

  /// Reads all pieces, or those that begin in one of the stretches. `also` gets each record before
  /// the next piece. Without `also`, samples and states of GPUs are not read.
  void read(std::function<void(timeline_piece const&)> const& add, record_listener* also = nullptr,
            std::vector<captured_stretch> const& within = {});

  std::string name_of(row_key const& row) const;         // "stream 7", "thread 5, domain"
  static std::string group_of(row_key const& row);       // "GPU 0"
  static std::string name_in_group(row_key const& row);  // as name_of(), without the domain

 private:
  std::optional<timeline_piece> piece_of(captured_kernel const& kernel);
  std::optional<timeline_piece> piece_of(captured_graph const& graph);
  std::optional<timeline_piece> piece_of(captured_copy const& copy);
  std::optional<timeline_piece> piece_of(captured_fill const& fill);
  std::optional<timeline_piece> piece_of(captured_range const& range);
  std::optional<timeline_piece> piece_of(captured_call const& call);
  /// Records with a track of their own are not pieces.
  static std::optional<timeline_piece> piece_of(captured_sample const&) { return {}; }
  static std::optional<timeline_piece> piece_of(captured_chip_state const&) { return {}; }

  capture_file& run_;
  std::map<captured_copy_kind, std::string> copy_names_;
  // Texts of a capture_file do not move while it lives. The default domain comes first.
  std::unordered_map<std::string_view, std::uint64_t> domains_{{"", 0}};
  std::vector<std::string_view> domain_names_{""};
};

}  // namespace gpuprof::host::page
