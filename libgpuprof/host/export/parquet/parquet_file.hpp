// SPDX-License-Identifier: Apache-2.0
// Writes one Parquet file with some ten thousand rows in memory at once. Only this code uses Arrow.
#pragma once

#include "base/result.hpp"
#include "host/export/parquet/table_columns.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::host {

/// Metadata of a file: "rank" -> "3".
using parquet_facts = std::vector<std::pair<std::string, std::string>>;

class parquet_file {
 public:
  /// Best number of rows for one put(); more are allowed.
  static constexpr std::size_t batch_rows = 65536;

  static result<parquet_file> create(std::string const& path, std::vector<table_column> columns,
                                     parquet_facts const& facts);
  parquet_file(parquet_file&&) noexcept;
  parquet_file& operator=(parquet_file&&) = delete;
  /// Deletes a file that was not finished.
  ~parquet_file();

  /// Writes rows from which the columns take their values. finish() returns the first failure.
  void put(std::byte const* rows, std::size_t count);
  /// Writes the footer, syncs the file to disk and gives it its name.
  result<void> finish();

 private:
  struct writing;
  explicit parquet_file(std::unique_ptr<writing> state);
  std::unique_ptr<writing> state_;
};

/// Thrown if a table cannot be written; ends the writing of a folder of tables. Caught by the
/// function that writes all tables.
struct table_failed {
  std::string message;
};

}  // namespace gpuprof::host
