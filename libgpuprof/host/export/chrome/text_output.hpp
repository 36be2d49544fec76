// SPDX-License-Identifier: Apache-2.0
// Text on its way into a file, as it is or as gzip, compressed on a thread of its own.
#pragma once

#include "host/export/unfinished_file.hpp"

#include <fmt/format.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

struct libdeflate_compressor;

namespace gpuprof::chrome {

using text_buffer = fmt::basic_memory_buffer<char, 1>;

/// One thread appends. The other compresses what was appended before, a gzip member for each MiB:
/// readers of gzip join the members, and nobody has to hold the whole text.
class text_output {
 public:
  text_output(unfinished_file& file, bool compress);
  ~text_output();
  text_output(text_output const&) = delete;
  text_output& operator=(text_output const&) = delete;

  text_buffer& text() noexcept { return filling_; }
  /// Between two pieces of text: hands over what has been appended when it is enough.
  void may_leave() {
    if (filling_.size() >= member_bytes) hand_over();
  }
  /// All of it has gone to the file, which may have failed.
  void finish();

  static constexpr std::size_t member_bytes = 1 << 20;

 private:
  struct delete_compressor {
    void operator()(libdeflate_compressor* compressor) const noexcept;
  };

  void hand_over();
  void end_worker() noexcept;
  void work() noexcept;
  void put(text_buffer const& text) noexcept;

  unfinished_file* file_;
  std::unique_ptr<libdeflate_compressor, delete_compressor> compressor_;  // null: plain text
  std::vector<char> member_;
  text_buffer filling_;

  std::mutex mutex_;  // protects what follows
  std::condition_variable changed_;
  text_buffer waiting_;  // the worker's when is_waiting_, else empty
  bool is_waiting_ = false;
  bool ended_ = false;

  std::thread worker_;
};

}  // namespace gpuprof::chrome
