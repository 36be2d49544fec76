// SPDX-License-Identifier: Apache-2.0
// A folder of tables to which ranks are added: OUT/<table>/rank=N.
#pragma once

#include "base/result.hpp"
#include "host/export/parquet/shared_folder.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host {

/// The partition that a capture fills: "run=monday/rank=3".
struct table_partition {
  std::string run;  // empty: no such level
  std::uint32_t rank = 0;
  std::string path() const;
};

/// Ranks of one job may be added at the same time, each by its own process.
class rank_folder {
 public:
  /// Fails if `out` holds this rank and it may not be replaced, or if it holds foreign files.
  static result<rank_folder> create(std::string const& out, table_partition part, bool overwrite);

  /// Returns the temporary path for this table's file. Its folder exists.
  result<std::string> file_of(std::string_view table);
  /// Moves the rank to its place, the table `capture` last: a rank that is in `capture` is
  /// complete.
  result<void> finish();

 private:
  rank_folder(shared_folder folder, table_partition part, bool overwrite);

  shared_folder folder_;
  table_partition part_;
  std::vector<std::string> tables_;
  bool overwrite_ = false;
};

}  // namespace gpuprof::host
