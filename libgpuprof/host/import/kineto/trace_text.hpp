// SPDX-License-Identifier: Apache-2.0
// Reads the text of a trace file in pieces, gzip or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct z_stream_s;

namespace gpuprof::host {

/// Uses zlib's inflate() instead of gzread(), because gzread() withholds what it has unpacked
/// before an error, such as a wrong check sum at the end of an otherwise complete file.
class trace_text {
 public:
  /// Throws import_failure.
  explicit trace_text(std::string const& path);
  ~trace_text();
  trace_text(trace_text const&) = delete;
  trace_text& operator=(trace_text const&) = delete;

  /// Returns the number of bytes read. 0 at the end or on an error; then failure() gives the
  /// reason.
  std::size_t read(std::span<char> into);
  std::string const& failure() const noexcept { return failure_; }

  std::uint64_t file_bytes() const noexcept { return file_bytes_; }
  /// Bytes read from the file since the last call.
  std::uint64_t newly_read();

 private:
  struct closed {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  /// Returns false at the end of the file.
  bool fill();
  std::size_t unpack(std::span<char> into);

  std::unique_ptr<std::FILE, closed> file_;
  std::vector<unsigned char> packed_;
  std::unique_ptr<z_stream_s> unpacking_;  // null: the file is not compressed
  bool is_at_member_ = true;               // at the beginning of a gzip member
  std::uint64_t file_bytes_ = 0;
  std::uint64_t read_ = 0, told_ = 0;
  std::string failure_;
};

}  // namespace gpuprof::host
