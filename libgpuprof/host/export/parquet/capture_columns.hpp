// SPDX-License-Identifier: Apache-2.0
// The columns of the tables of a capture: `kernel` and `range` prepared for queries, with the path
// of a range in its tree; all others as they are, with names in place of their numbers.
#pragma once

#include "capture/layout.hpp"
#include "host/export/export_job.hpp"
#include "host/export/parquet/table_columns.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace gpuprof::host {

// The columns of a table as they are in a capture, with names in place of their numbers.

/// Made in two looks at the rows: a dictionary has to be whole before the first row is written.
class raw_columns {
 public:
  raw_columns(export_job& job, capture::table_layout const& layout);

  /// Nothing to see in a table without names.
  bool has_names() const noexcept { return !names_.empty(); }
  void see(std::byte const* rows, std::size_t count);
  /// After all rows were seen.
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

/// Where each NVTX range of a capture stands, as texts and numbers to group by: its path, its step.
/// A step is the outermost range around it that has "step" in its name, else the outermost of all;
/// steps are counted from 0 among those of one name, numbers at its end left out: torch's
/// "ProfilerStep#7" is the same step in every rank.
class range_places {
 public:
  explicit range_places(export_job& job);

  struct place {
    std::int32_t name = no_text;  // code in names()
    std::int32_t path = no_text;  // code in paths(): "step/forward/layer 3"
    std::int64_t step = no_number;
  };
  /// By index in the tree; of no_range: nothing.
  place const& of(std::uint32_t range) const noexcept {
    return range < places_.size() ? places_[range] : nowhere_;
  }
  /// In which a kernel, copy, fill or graph counts: as `gpuprof stats` has it.
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

/// Something a launch has brought to the GPU, with the range that it counts in.
template <class Record>
struct placed {
  Record record;
  range_places::place place;
};

/// Name, grid and block beside what the capture has of a kernel.
std::vector<table_column> kernel_columns(export_job& job, range_places const& ranges);

/// A range with its end.
struct whole_range {
  range_begin begin;
  std::int64_t duration_ns = 0;
  bool still_open = false;
  range_places::place place;
};
/// `job` outlives what is given out.
std::vector<table_column> range_columns(export_job& job, range_places const& ranges);

/// Those that say in which range a launch counts.
template <class Row>
std::vector<table_column> place_columns(range_places const& ranges) {
  return {text_column<Row>("range_name", ranges.names(), [](Row const& r) { return r.place.name; }),
          text_column<Row>("range_path", ranges.paths(), [](Row const& r) { return r.place.path; }),
          optional_column<Row>("step", column_kind::number, "",
                               [](Row const& r) { return r.place.step; })};
}

}  // namespace gpuprof::host
