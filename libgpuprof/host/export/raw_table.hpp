// SPDX-License-Identifier: Apache-2.0
// The tables of a capture as in the file, with names instead of their ids. For formats that know
// nothing of GPUs.
#pragma once

#include "capture/layout.hpp"
#include "host/export/export_job.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gpuprof::host {

/// An exported column: one of the file, or the name of the kernel that `shape` refers to.
struct raw_column {
  std::string_view name;
  std::string_view type;  // i64, u64, f64, bool or text
  std::string_view unit;
};

struct raw_table {
  std::string_view name;
  std::vector<raw_column> columns;
  std::uint64_t rows = 0;
};

/// A text lives until the end of the export.
using raw_value = std::variant<std::int64_t, std::uint64_t, double, bool, std::string_view>;

/// `begin` is called once for each table that has rows; then its rows follow.
struct raw_table_sink {
  std::function<void(raw_table const&)> begin;
  std::function<void(std::span<raw_value const>)> row;
  std::function<void()> end;
};

/// Reads all tables except those that hold names or describe the file. Rows come in the order of
/// the file.
void each_raw_table(export_job& job, raw_table_sink const& to);

}  // namespace gpuprof::host
