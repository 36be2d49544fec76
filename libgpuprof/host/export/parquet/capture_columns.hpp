// SPDX-License-Identifier: Apache-2.0
// The columns of a capture's tables. `kernel` and `range` are prepared for queries, with the path
// of each range in its tree; all others are as in the file, with names instead of their ids.
#pragma once

#include "capture/layout.hpp"
#include "host/export/export_job.hpp"
#include "host/export/parquet/table_columns.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace gpuprof::host {

// The columns of a table as in a capture, with names instead of their ids.

/// Needs two passes over the rows, because a dictionary must be complete before the first row is
/// written.
class raw_columns {
 public:
  raw_columns(export_job& job, capture::table_layout const& layout);

  /// False if the table has no names: then see() is not needed.
  bool has_names() const noexcept { return !names_.empty(); }
  void see(std::byte const* rows, std::size_t count);
  /// Call it after all rows were seen.
  std::vector<table_column> columns() const;

 private:
  struct name_column {
    std::size_t place = 0;
    std::shared_ptr<text_list> texts = std::make_shared<text_list>();
    std::shared_ptr<std::unordered_map<std::uint64_t, std::int32_t>> codes =
        std::make_shared<std::unordered_map<std::uint64_t, std::int32_t>>();
  };
  table_column column_at(std::size_t place) const;
  name_column const* name_at(std::size_t place) const noexcept;

  export_job* job_;
  capture::table_layout const* layout_;
  std::vector<name_column> names_;
};

/// The path and step of each NVTX range of a capture, as texts and numbers to group by. A step is
/// the outermost range around it that has "step" in its name, or the outermost of all if none has.
/// Steps are counted from 0 among those with the same name; numbers at the end of a name are
/// dropped, so torch's "ProfilerStep#7" is the same step in every rank.
class range_places {
 public:
  explicit range_places(export_job& job);

  struct place {
    std::int32_t name = no_text;  // code in names()
    std::int32_t path = no_text;  // code in paths(): "step/forward/layer 3"
    std::int64_t step = no_number;
  };
  /// `range` is an index in the tree. For no_range the place is empty.
  place const& of(std::uint32_t range) const noexcept {
    return range < places_.size() ? places_[range] : nowhere_;
  }
  /// Returns the range in which a kernel, copy, fill or graph counts, by the same rule as `gpuprof
  /// stats`.
  template <class Record>
  place const& of_launch(Record const& record) const noexcept {
    return of(launched_->innermost(record));
  }

  std::shared_ptr<text_list const> names() const noexcept { return names_; }
  std::shared_ptr<text_list const> paths() const noexcept { return paths_; }

 private:
  void take_paths(range_tree const& tree, exported_names& names);
  void count_steps(range_tree const& tree, exported_names& names);

  launch_ranges const* launched_;
  std::vector<place> places_;
  place nowhere_;
  std::shared_ptr<text_list> names_ = std::make_shared<text_list>();
  std::shared_ptr<text_list> paths_ = std::make_shared<text_list>();
  std::vector<std::unique_ptr<std::string const>> path_texts_;
};

/// A record of GPU work with the range in which it counts.
template <class Record>
struct placed {
  Record record;
  range_places::place place;
};

/// Adds name, grid and block to the columns that the capture has for a kernel.
std::vector<table_column> kernel_columns(export_job& job, range_places const& ranges);

/// A range with its end.
struct whole_range {
  range_begin begin;
  std::int64_t duration_ns = 0;
  bool still_open = false;
  range_places::place place;
};
/// `job` must outlive the columns.
std::vector<table_column> range_columns(export_job& job, range_places const& ranges);

/// Returns the columns that say in which range a launch counts.
template <class Row>
std::vector<table_column> place_columns(range_places const& ranges) {
  return {text_column<Row>("range_name", ranges.names(), [](Row const& r) { return r.place.name; }),
          text_column<Row>("range_path", ranges.paths(), [](Row const& r) { return r.place.path; }),
          optional_column<Row>("step", column_kind::number, "",
                               [](Row const& r) { return r.place.step; })};
}

}  // namespace gpuprof::host
