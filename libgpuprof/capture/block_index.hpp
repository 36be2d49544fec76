// SPDX-License-Identifier: Apache-2.0
// Finds the blocks of a capture file by their headers, even after damaged places and in a file that
// was cut off.
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
  std::uint64_t offset = 0;  // offset of the zstd frame
  block_header header;
};

/// Lines for the user. Their number is limited.
class warning_list {
 public:
  void add(std::string line);
  std::vector<std::string> const& lines() const noexcept { return lines_; }

 private:
  std::vector<std::string> lines_;
};

/// The known losses of a file.
struct file_losses {
  // by table, for damaged blocks with an intact header
  std::map<std::uint16_t, std::uint64_t> rows;
  std::uint64_t blocks = 0;     // missing blocks, known from gaps in the block numbers
  std::uint64_t unwritten = 0;  // rows not written because the disk was full or memory was missing
  // the end is missing: the file was cut off or its program was killed
  bool lacks_end = false;
};

struct block_index {
  std::vector<block_place> blocks;  // in file order
  bool cut_off = false;             // the file ends inside a block
  file_losses losses;
};

/// Returns an error if the file is empty, not a capture or from a newer version. Messages call the
/// file `path`.
result<block_index> index_blocks(input_file const& file, std::string const& path,
                                 warning_list& warnings);

/// Returns "kernel", or "table 99" for a table that this version does not know.
std::string name_of_table(std::uint16_t number);

}  // namespace gpuprof::capture
