// SPDX-License-Identifier: Apache-2.0
#include "capture/writer.hpp"

#include "capture/column_notes.hpp"

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace gpuprof::capture {
namespace {

constexpr std::size_t pending_bytes = 1 << 20;
// For the end mark and the schema before it, which take 6 kB.
constexpr std::size_t room_for_end = 16 << 10;

std::string reason_of(int failure) {
  char buffer[128];
  return failure == EBADF ? "the program closed its descriptor"
                          : strerror_r(failure, buffer, sizeof buffer);
}

std::string advice_for(int failure) {
  return failure == EBADF ? "start the capture after the program has closed its descriptors"
                          : "free space or choose another --output";
}

}  // namespace

result<std::unique_ptr<writer>> writer::create(std::string path, create_mode mode) {
  auto file = output_file::create(path, mode);
  if (!file) return error{file.message()};
  std::unique_ptr<writer> made{new writer{std::move(path), std::move(*file)}};
  auto const header = to_bytes_of_file_header(format_major, format_minor);
  made->pending_.assign(header.begin(), header.end());
  made->write_schema();
  if (auto const written = made->flush(); !written) {
    unlink(made->path_.c_str());  // an empty file is useless
    return error{written.message()};
  }
  return made;
}

writer::writer(std::string path, output_file file)
    : path_(std::move(path)), file_(std::move(file)), owner_(getpid()) {
  for (auto const& layout : all_tables()) buffers_.emplace_back(layout);
  pending_.reserve(2 * pending_bytes);
}

writer::~writer() {
  static_cast<void>(close());  // flush() reported any error, or there is no one to report it to
}

// A forked child shares the descriptor but must not write the parent's rows again.
bool writer::is_owner() const noexcept {
  return getpid() == owner_;
}

void writer::encode(table_buffer& buffer) noexcept {
  auto const rows = buffer.rows();
  if (rows == 0) return;
  if (failure_ == 0 && encode_block(buffer)) {
    ++sequence_;
    pending_rows_ += rows;
  } else {
    rows_lost_ += rows;
  }
  buffer.clear();
}

/// Returns false if there is no memory or no room in the file. In the latter case, writes the
/// blocks encoded before.
bool writer::encode_block(table_buffer& buffer) noexcept {
  auto const before = pending_.size();
  if (!encoder_.append(buffer.layout().number, sequence_, buffer.columns(), pending_)) return false;
  if (max_bytes_ == 0 || file_.size() + pending_.size() + room_for_end <= max_bytes_) return true;
  pending_.resize(before);
  write_pending();
  is_full_ = true;
  if (failure_ == 0) failure_ = EFBIG;
  return false;
}

void writer::encode_definitions() noexcept {
  for (auto& buffer : buffers_) {
    if (buffer.layout().definition) encode(buffer);
  }
}

void writer::encode_all() noexcept {
  encode_definitions();
  for (auto& buffer : buffers_) encode(buffer);
}

// Definitions come before the rows that use them, so that a file cut off at any point can be read.
void writer::cut(table_buffer& full) noexcept {
  encode_definitions();
  encode(full);
  if (pending_.size() >= pending_bytes) write_pending();
}

void writer::write_schema() noexcept {
  for (auto const& described : all_tables()) {
    std::uint16_t place = 0;
    for (auto const& column : described.columns) {
      add(schema_row{.table = described.number,
                     .column = place++,
                     .table_name = described.name,
                     .column_name = column.name,
                     .type = name_of(column.type),
                     .unit = note_of(described.name, column.name)->unit,
                     .refers_to = note_of(described.name, column.name)->refers_to});
    }
  }
}

void writer::write_pending() noexcept {
  if (pending_.empty() || !is_owner()) return;
  if (failure_ == 0) failure_ = file_.append(pending_);
  if (failure_ == 0) {
    written_sequence_ = sequence_;
  } else {
    rows_lost_ += pending_rows_;
  }
  pending_.clear();
  pending_rows_ = 0;
}

result<void> writer::flush() noexcept {
  if (closed_ || !is_owner()) return {};
  encode_all();
  write_pending();
  return report_failure_once();
}

result<void> writer::report_failure_once() noexcept {
  if (failure_ == 0 || failure_reported_) return {};
  failure_reported_ = true;
  try {
    return error{"writing the capture '" + path_ + "' failed: " + reason_of(failure_) +
                 "; it keeps the " + std::to_string(file_.size()) +
                 " bytes written so far, later records are lost; " + advice_for(failure_)};
  } catch (...) {  // no memory
    return error{};
  }
}

bool writer::append_end(std::uint64_t sequence) noexcept {
  auto& buffer = buffers_[table<end_row>::number];
  if (buffer.rows() == 0 && !buffer.add(end_row{.rows_lost = rows_lost_, .error = failure_}))
    return false;
  return encoder_.append(table<end_row>::number, sequence, buffer.columns(), pending_) &&
         file_.append(pending_) == 0;
}

// Writes the end even after a failed write: these few bytes often still fit, and then the reader
// can say why rows are missing. Also repeats the schema, for readers that do not know the tables,
// because its first block may be damaged.
void writer::write_end() noexcept {
  pending_.clear();
  if (failure_ == 0) {
    write_schema();
    auto& schema = buffers_[table<schema_row>::number];
    if (encoder_.append(table<schema_row>::number, written_sequence_, schema.columns(), pending_) &&
        append_end(written_sequence_ + 1))
      return;
    pending_.clear();
  }
  static_cast<void>(append_end(written_sequence_));
}

result<void> writer::close() noexcept {
  if (closed_) return {};
  auto flushed = flush();
  if (is_owner()) write_end();
  file_.close();
  closed_ = true;
  return flushed;
}

}  // namespace gpuprof::capture
