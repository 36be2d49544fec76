// SPDX-License-Identifier: Apache-2.0
// Writes one Parquet file, a few ten thousand rows in memory at once. The only place that knows
// Arrow.
#pragma once

#include "base/result.hpp"
#include "host/export/parquet/table_columns.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::host {

/// What a file says about itself: "rank" -> "3".
using parquet_facts = std::vector<std::pair<std::string, std::string>>;

class parquet_file {
 public:
  /// Rows that are best given to put() at once; more are allowed.
  static constexpr std::size_t batch_rows = 65536;

  static result<parquet_file> create(std::string const& path, std::vector<table_column> columns,
                                     parquet_facts const& facts);
  parquet_file(parquet_file&&) noexcept;
  parquet_file& operator=(parquet_file&&) = delete;
  /// Not finished: nothing is left.
  ~parquet_file();

  /// The rows that the columns read from. The first failure is kept for finish().
  void put(std::byte const* rows, std::size_t count);
  /// A footer, on the disk, under its name.
  result<void> finish();

 private:
  struct writing;
  explicit parquet_file(std::unique_ptr<writing> state);
  std::unique_ptr<writing> state_;
};

/// Ends the writing of a folder of tables: thrown where one cannot be written, caught by the
/// function that writes all of them.
struct table_failed {
  std::string message;
};

}  // namespace gpuprof::host
