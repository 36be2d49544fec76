// SPDX-License-Identifier: Apache-2.0
// Writes a capture file while the program runs.
#pragma once

#include "base/result.hpp"
#include "capture/output_file.hpp"
#include "capture/table_buffer.hpp"
#include "capture/tables.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::capture {

/// Must be used by one thread. Rows are buffered by table and written in whole blocks: when a table
/// has 32768 rows, and at flush(). Only create() throws. Memory is bounded: one block for each used
/// table, and 1 MiB of encoded blocks.
///
///   auto writer = capture::writer::create("app.gpuprof", capture::create_mode::fail_if_exists);
///   if (!writer) return log_error(writer.message());
///   (*writer)->add_name(name_id{1}, "gemm");
///   (*writer)->add(kernel);
///   if (auto const flushed = (*writer)->flush(); !flushed) log_error(flushed.message());
class writer {
 public:
  /// When this returns, the file exists, contains its schema and is locked against other writers.
  static result<std::unique_ptr<writer>> create(std::string path, create_mode mode);

  /// Closes the file. In a forked child, only closes the descriptor.
  ~writer();

  template <class Row>
  void add(Row const& row) noexcept {
    add(std::span<Row const>{&row, 1});
  }

  template <class Row>
  void add(std::span<Row const> rows) noexcept {
    if (failure_ != 0) {
      rows_lost_ += rows.size();
      return;
    }
    auto& buffer = buffers_[table<Row>::number];
    for (auto const& row : rows) {
      if (!buffer.add(row)) ++rows_lost_;
      if (buffer.is_full()) cut(buffer);
    }
  }

  /// Must be called before any row that uses the id. Texts are cut off at 1 MiB.
  void add_name(name_id id, std::string_view text) noexcept {
    add(name_row{.id = id, .text = text});
  }

  /// Writes everything added so far to the file (to the page cache: it survives the process, not a
  /// power failure). A full disk is reported once; afterwards rows are only counted as lost, and
  /// the file stays readable.
  result<void> flush() noexcept;

  /// Calls flush(), then writes the mark that the capture is complete. Later calls do nothing.
  result<void> close() noexcept;

  /// Limits the size of the file: the rows of the first block that does not fit, and all later
  /// ones, are lost. 0: no limit.
  void limit_size(std::uint64_t bytes) noexcept { max_bytes_ = bytes; }
  bool is_full() const noexcept { return is_full_; }
  std::optional<disk_space> space() const noexcept { return file_.space(); }

  std::uint64_t bytes_written() const noexcept { return file_.size(); }
  /// Number of rows that were not written, because the disk was full or memory was missing.
  std::uint64_t rows_lost() const noexcept { return rows_lost_; }
  std::string const& path() const noexcept { return path_; }

 private:
  writer(std::string path, output_file file);

  void encode(table_buffer& buffer) noexcept;
  bool encode_block(table_buffer& buffer) noexcept;
  void cut(table_buffer& full) noexcept;
  void encode_definitions() noexcept;
  void encode_all() noexcept;
  void write_schema() noexcept;
  void write_pending() noexcept;
  void write_end() noexcept;
  bool append_end(std::uint64_t sequence) noexcept;
  result<void> report_failure_once() noexcept;
  bool is_owner() const noexcept;

  std::vector<table_buffer> buffers_;  // by table number

  std::string path_;
  output_file file_;
  block_encoder encoder_;
  std::vector<unsigned char> pending_;  // whole encoded blocks that are not written yet
  std::uint64_t pending_rows_ = 0;
  std::uint64_t sequence_ = 0;          // number of the next block
  std::uint64_t written_sequence_ = 0;  // number of the next block after those in the file
  std::uint64_t rows_lost_ = 0;
  std::uint64_t max_bytes_ = 0;
  bool is_full_ = false;
  int failure_ = 0;  // errno of the write that ended the recording
  bool failure_reported_ = false;
  bool closed_ = false;
  int owner_;  // process that created it
};

}  // namespace gpuprof::capture
