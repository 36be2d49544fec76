// SPDX-License-Identifier: Apache-2.0
// Writes each table of an SQLite file as a Parquet file. nsys calls the folder a parquetdir.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace gpuprof::host {

/// Writes TABLE.parquet files into the folder, which must exist. `advance` is called with the
/// number of rows done.
result<void> write_database_tables(std::string const& database, std::string const& folder,
                                   std::function<void(std::uint64_t rows)> const& advance);

}  // namespace gpuprof::host
