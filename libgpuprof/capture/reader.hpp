// SPDX-License-Identifier: Apache-2.0
// Reads a capture file, even one that is cut off, damaged or still being written.
#pragma once

#include "base/result.hpp"
#include "capture/block_decoder.hpp"
#include "capture/block_index.hpp"
#include "capture/layout.hpp"
#include "capture/tables.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::capture {

/// The earliest and the latest start of the rows of a block.
struct block_times {
  timestamp_ns first{~std::uint64_t{0}}, last{};
};

/// The GPUs whose work is in a block, once each.
using block_devices = std::vector<device_id>;

/// What passes over a block have noted; `offset` tells whether it is the same block.
struct block_notes {
  std::uint64_t offset = 0;
  std::optional<block_times> times;
  std::optional<block_devices> devices;
};

/// One thread. Memory: the names, an index entry of 100 bytes a block, and one block at a time.
///
///   auto capture = capture::reader::open("app.gpuprof");
///   if (!capture) return fail(capture.message());
///   capture->for_each<kernel_record>(
///       [&](std::span<kernel_record const> kernels) { for (auto const& k : kernels) ...; },
///       capture::only(&kernel_record::shape, &kernel_record::duration));
///   for (auto const& line : capture->warnings()) std::cerr << line << '\n';
class reader {
 public:
  static result<reader> open(std::string path);

  /// Calls f with all rows of a table in file order, up to 1024 at a time. Skips damaged blocks and
  /// adds a line to warnings(). `wanted`: the columns to decode.
  template <class Row, class F>
  void for_each(F&& f, column_set<Row> wanted = {}) {
    for (auto const block : blocks_of<Row>()) for_each_in<Row>(block, f, wanted);
  }

  /// Returns the blocks of a table in file order, for callers that read them in another order.
  template <class Row>
  std::vector<std::size_t> blocks_of() const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < blocks_.size(); ++i)
      if (blocks_[i].header.table == table<Row>::number) found.push_back(i);
    return found;
  }

  /// Behaves from now on as if the file had no other blocks of this table. `blocks` are in file
  /// order.
  template <class Row>
  void keep_blocks(std::vector<std::size_t> const& blocks) {
    keep_blocks(table<Row>::number, blocks);
  }

  /// As for_each(), for one of those blocks.
  template <class Row, class F>
  void for_each_in(std::size_t block, F&& f, column_set<Row> wanted = {}) {
    if (!load(block)) return;
    count_decoded(block);
    std::vector<Row> tile(tile_rows);
    row_assembler rows{layout_of<Row>(), decoder_->columns(), wanted.bits()};
    for (std::size_t left = blocks_[block].header.rows; left > 0;) {
      auto const count = std::min(left, tile_rows);
      rows.next(reinterpret_cast<std::byte*>(tile.data()), count);
      f(std::span<Row const>{tile.data(), count});
      left -= count;
    }
  }

  /// Returns the times of a block, or nothing if no pass has stored them yet.
  std::optional<block_times> const& times_of(std::size_t block) const noexcept {
    return times_[block];
  }
  void note_times(std::size_t block, block_times const& times) { times_[block] = times; }
  /// Likewise, of the GPUs whose work is in it.
  std::optional<block_devices> const& devices_of(std::size_t block) const noexcept {
    return devices_[block];
  }
  void note_devices(std::size_t block, block_devices devices) {
    devices_[block] = std::move(devices);
  }
  /// Returns what was noted, for another reader of the same file.
  std::vector<block_notes> notes() const;
  void take(std::span<block_notes const> notes);

  /// Uses only the block headers: blocks that are damaged inside count until they are read.
  template <class Row>
  std::uint64_t row_count() const noexcept {
    return row_count(table<Row>::number);
  }

  /// Returns an empty text for 0 and for an id that is not in the file. The text is valid as long
  /// as the reader.
  std::string_view text(name_id id) const noexcept;

  /// Returns the known problems of the file, one line each. Damage inside a block is found when the
  /// block is read.
  std::vector<std::string> const& warnings() const noexcept { return warnings_.lines(); }

  /// The same in numbers.
  file_losses const& losses() const noexcept { return losses_; }
  template <class Row>
  std::uint64_t rows_lost() const noexcept {
    auto const found = losses_.rows.find(table<Row>::number);
    return found != losses_.rows.end() ? found->second : 0;
  }

  /// Returns the number of rows of a table decoded so far, for any columns. A row counts each time
  /// it is decoded.
  template <class Row>
  std::uint64_t rows_decoded() const noexcept {
    return rows_decoded(table<Row>::number);
  }

  /// False if the program was killed or is still running.
  bool is_complete() const noexcept { return complete_; }
  /// True if any process, including this one, has the file open as a writer.
  bool is_being_written() const noexcept { return being_written_; }
  std::uint64_t size_bytes() const noexcept { return file_.size(); }
  std::string const& path() const noexcept { return path_; }

 private:
  reader(std::string path, input_file file);

  bool load(std::size_t block);
  void keep_blocks(std::uint16_t table, std::vector<std::size_t> const& blocks);
  void count_decoded(std::size_t block) noexcept;
  std::uint64_t rows_decoded(std::uint16_t table) const noexcept;
  void read_names();
  void judge_end(bool cut_off);
  std::uint64_t row_count(std::uint16_t table) const noexcept;

  struct name_store;
  struct delete_names {
    void operator()(name_store*) const noexcept;
  };
  struct decode_counts;
  struct delete_counts {
    void operator()(decode_counts*) const noexcept;
  };

  std::string path_;
  input_file file_;
  warning_list warnings_;
  file_losses losses_;
  std::vector<block_place> blocks_;
  std::vector<std::optional<block_times>> times_;      // by block
  std::vector<std::optional<block_devices>> devices_;  // by block
  std::vector<bool> reported_;  // blocks whose damage was already added to `warnings_`
  std::unique_ptr<block_decoder> decoder_;
  std::unique_ptr<name_store, delete_names> names_;
  std::unique_ptr<decode_counts, delete_counts> decoded_;
  bool complete_ = false;
  bool being_written_ = false;
};

}  // namespace gpuprof::capture
