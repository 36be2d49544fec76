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

/// Which part of the tables a capture is: "run=monday/rank=3".
struct table_partition {
  std::string run;  // empty: no such level
  std::uint32_t rank = 0;
  std::string path() const;
};

/// Ranks of one job may be added at once, each by a process of its own.
class rank_folder {
 public:
  /// An error when `out` holds this rank, unless it may be replaced, or files of others.
  static result<rank_folder> create(std::string const& out, table_partition part, bool overwrite);

  /// Where to write the file of this table for now. Its folder is there.
  result<std::string> file_of(std::string_view table);
  /// Puts the rank beside the others, the table `capture` last: a rank that is in it is whole.
  result<void> finish();

 private:
  rank_folder(shared_folder folder, table_partition part, bool overwrite);

  shared_folder folder_;
  table_partition part_;
  std::vector<std::string> tables_;
  bool overwrite_ = false;
};

}  // namespace gpuprof::host
