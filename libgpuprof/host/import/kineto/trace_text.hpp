// SPDX-License-Identifier: Apache-2.0
// The text of a trace file, gzip or not, a piece at a time.
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

/// Uses zlib's inflate() and not gzread(), which keeps back what it has unpacked before an error,
/// such as a wrong check sum at the end of a whole file.
class trace_text {
 public:
  /// Throws import_failure.
  explicit trace_text(std::string const& path);
  ~trace_text();
  trace_text(trace_text const&) = delete;
  trace_text& operator=(trace_text const&) = delete;

  /// How much was read; 0: the end, or no more can be had, and failure() says why.
  std::size_t read(std::span<char> into);
  std::string const& failure() const noexcept { return failure_; }

  std::uint64_t file_bytes() const noexcept { return file_bytes_; }
  /// Bytes of the file that were read since the last call.
  std::uint64_t newly_read();

 private:
  struct closed {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  /// False: the file has ended.
  bool fill();
  std::size_t unpack(std::span<char> into);

  std::unique_ptr<std::FILE, closed> file_;
  std::vector<unsigned char> packed_;
  std::unique_ptr<z_stream_s> unpacking_;  // null: the file is not compressed
  bool is_at_member_ = true;               // of the file, which may be several compressed ones
  std::uint64_t file_bytes_ = 0;
  std::uint64_t read_ = 0, told_ = 0;
  std::string failure_;
};

}  // namespace gpuprof::host
