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

/// One thread. Rows are buffered by table and reach the file in whole blocks: when a table has
/// 32768 of them, and at flush(). Nothing but create() throws; memory is bounded: each
/// table that is used holds at most one block, and 1 MiB of encoded blocks waits to be written.
///
///   auto writer = capture::writer::create("app.gpuprof", capture::create_mode::fail_if_exists);
///   if (!writer) return log_error(writer.message());
///   (*writer)->add_name(name_id{1}, "gemm");
///   (*writer)->add(kernel);
///   if (auto const flushed = (*writer)->flush(); !flushed) log_error(flushed.message());
class writer {
 public:
  /// The file exists, holds its schema and is locked against other writers when this returns.
  static result<std::unique_ptr<writer>> create(std::string path, create_mode mode);

  /// Closes the file. In a forked child it only drops the descriptor.
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

  /// Before any row that uses the id. Texts beyond 1 MiB are cut.
  void add_name(name_id id, std::string_view text) noexcept {
    add(name_row{.id = id, .text = text});
  }

  /// Everything added so far is in the file when this returns (in the kernel's hands: it survives
  /// the process, not a power failure). A full disk is reported once; from then on rows are only
  /// counted as lost, and what was written before stays readable.
  result<void> flush() noexcept;

  /// flush(), then the mark that tells readers the capture is complete. Later calls do nothing.
  result<void> close() noexcept;

  /// The file never becomes larger: the rows of the first block that has no room, and all after it,
  /// are lost. 0: no limit.
  void limit_size(std::uint64_t bytes) noexcept { max_bytes_ = bytes; }
  bool is_full() const noexcept { return is_full_; }
  std::optional<disk_space> space() const noexcept { return file_.space(); }

  std::uint64_t bytes_written() const noexcept { return file_.size(); }
  /// Rows that did not reach the file: the disk was full, or memory short.
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
  std::vector<unsigned char> pending_;  // whole blocks, encoded, not yet in the file
  std::uint64_t pending_rows_ = 0;
  std::uint64_t sequence_ = 0;          // of the next block
  std::uint64_t written_sequence_ = 0;  // of the next block after those in the file
  std::uint64_t rows_lost_ = 0;
  std::uint64_t max_bytes_ = 0;
  bool is_full_ = false;
  int failure_ = 0;  // errno of the write that ended the recording
  bool failure_reported_ = false;
  bool closed_ = false;
  int owner_;  // process that created it
};

}  // namespace gpuprof::capture
