// SPDX-License-Identifier: Apache-2.0
// The columns of a table as they are in a capture, with names in place of their numbers.
#pragma once

#include "capture/layout.hpp"
#include "host/export/export_job.hpp"
#include "host/export/parquet/table_columns.hpp"

#include <span>
#include <vector>

namespace gpuprof::host {

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

}  // namespace gpuprof::host
