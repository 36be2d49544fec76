// SPDX-License-Identifier: Apache-2.0
// Writes each table of an SQLite file as a Parquet file: what nsys calls a parquetdir.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace gpuprof::host {

/// Into the folder, which is there, as TABLE.parquet. `advance` is called with rows that are done.
result<void> write_database_tables(std::string const& database, std::string const& folder,
                                   std::function<void(std::uint64_t rows)> const& advance);

}  // namespace gpuprof::host
