// SPDX-License-Identifier: Apache-2.0
// The text of a trace file, gzip or not, a piece at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

struct gzFile_s;

namespace gpuprof {

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
  gzFile_s* file_;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t told_ = 0;
  std::string failure_;
};

}  // namespace gpuprof
