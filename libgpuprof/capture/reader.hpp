// SPDX-License-Identifier: Apache-2.0
// Reads a capture file, also one that is cut off, damaged or still being written.
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

/// When the rows of a block begin: the earliest and the latest of them.
struct block_times {
  timestamp_ns first{~std::uint64_t{0}}, last{};
};

/// One thread. Memory: the names, an index entry of 56 bytes a block, and one block at a time.
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

  /// All rows of a table in the order they were added, some hundred at a time. Blocks that turn out
  /// damaged are skipped, with a line in warnings(). `wanted` names the columns to decode.
  template <class Row, class F>
  void for_each(F&& f, column_set<Row> wanted = {}) {
    for (auto const block : blocks_of<Row>()) for_each_in<Row>(block, f, wanted);
  }

  /// The blocks of a table in file order, for who reads them in an order of his own.
  template <class Row>
  std::vector<std::size_t> blocks_of() const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < blocks_.size(); ++i)
      if (blocks_[i].header.table == table<Row>::number) found.push_back(i);
    return found;
  }

  /// Likewise, of one of those blocks.
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

  /// What a pass over a block has learned of its times. Nothing: no pass has said it yet.
  std::optional<block_times> const& times_of(std::size_t block) const noexcept {
    return times_[block];
  }
  void note_times(std::size_t block, block_times const& times) { times_[block] = times; }
  /// What another reader of the same file has noted.
  void take_times_of(reader const& other);

  /// From the block headers, at no cost: blocks that are damaged inside count until they are read.
  template <class Row>
  std::uint64_t row_count() const noexcept {
    return row_count(table<Row>::number);
  }

  /// Empty for 0 and for an id that the file does not explain. Lives as long as the reader.
  std::string_view text(name_id id) const noexcept;

  /// What is wrong with the file, one line each, so far: damage inside a block shows when it is
  /// read.
  std::vector<std::string> const& warnings() const noexcept { return warnings_.lines(); }

  /// Likewise, in numbers.
  file_losses const& losses() const noexcept { return losses_; }
  template <class Row>
  std::uint64_t rows_lost() const noexcept {
    auto const found = losses_.rows.find(table<Row>::number);
    return found != losses_.rows.end() ? found->second : 0;
  }

  /// Rows of a table that were decoded so far, whatever columns. A row counts each time.
  template <class Row>
  std::uint64_t rows_decoded() const noexcept {
    return rows_decoded(table<Row>::number);
  }

  /// False after a kill, and while the program still runs.
  bool is_complete() const noexcept { return complete_; }
  /// True when another process (or this one) has the file open as a writer.
  bool is_being_written() const noexcept { return being_written_; }
  std::uint64_t size_bytes() const noexcept { return file_.size(); }
  std::string const& path() const noexcept { return path_; }

 private:
  reader(std::string path, input_file file);

  bool load(std::size_t block);
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
  std::vector<std::optional<block_times>> times_;  // by block
  std::vector<bool> reported_;                     // blocks whose damage is in warnings_ already
  std::unique_ptr<block_decoder> decoder_;
  std::unique_ptr<name_store, delete_names> names_;
  std::unique_ptr<decode_counts, delete_counts> decoded_;
  bool complete_ = false;
  bool being_written_ = false;
};

}  // namespace gpuprof::capture
