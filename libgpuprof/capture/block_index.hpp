// SPDX-License-Identifier: Apache-2.0
// Finds the blocks of a capture file by their headers, past damaged places and up to a cut-off end.
#pragma once

#include "base/result.hpp"
#include "capture/format.hpp"
#include "capture/input_file.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::capture {

struct block_place {
  std::uint64_t offset = 0;  // of the zstd frame
  block_header header;
};

/// Lines for the user, a bounded number of them.
class warning_list {
 public:
  void add(std::string line);
  std::vector<std::string> const& lines() const noexcept { return lines_; }

 private:
  std::vector<std::string> lines_;
};

/// What a file lacks, as far as it can be told.
struct file_losses {
  std::map<std::uint16_t, std::uint64_t> rows;  // by table: of blocks whose header is there
  std::uint64_t blocks = 0;     // of which nothing is there, as the numbers of the others tell
  std::uint64_t unwritten = 0;  // rows for which there was no room on the disk, or no memory
  bool lacks_end = false;       // whatever came last: the file was cut, or its program was killed
};

struct block_index {
  std::vector<block_place> blocks;  // in file order
  bool cut_off = false;             // the file ends inside a block
  file_losses losses;
};

/// The reason when the file is empty, no capture, or from a newer version. Names the file as `path`
/// in what it says.
result<block_index> index_blocks(input_file const& file, std::string const& path,
                                 warning_list& warnings);

/// "kernel", or "table 99" for one that this version does not know.
std::string name_of_table(std::uint16_t number);

}  // namespace gpuprof::capture
