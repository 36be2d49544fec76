// SPDX-License-Identifier: Apache-2.0
// Columns of the tables that are made for queries: what belongs to a kernel, copy or range is in
// its row.
#pragma once

#include "host/export/export_job.hpp"
#include "host/export/parquet/range_places.hpp"
#include "host/export/parquet/table_columns.hpp"

#include <vector>

namespace gpuprof {

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

}  // namespace gpuprof
