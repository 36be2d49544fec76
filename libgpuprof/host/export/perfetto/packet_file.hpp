// SPDX-License-Identifier: Apache-2.0
// A trace file in the making: packets, compressed in bundles.
#pragma once

#include "base/time.hpp"
#include "host/export/unfinished_file.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct libdeflate_compressor;

namespace gpuprof::perfetto {

/// A bundle is a packet that holds other packets, whole ones, as one zlib stream.
class packet_file {
 public:
  /// `base`: the time that all sequences count from.
  packet_file(unfinished_file& out, timestamp_ns base);
  packet_file(packet_file const&) = delete;
  packet_file& operator=(packet_file const&) = delete;
  ~packet_file();

  timestamp_ns base() const noexcept { return base_; }
  std::uint32_t new_sequence() noexcept { return ++sequences_; }

  void add(std::string_view packet);
  /// The last bundle. The file itself is finished by its owner.
  void finish() { write_bundle(); }

 private:
  void write_bundle();

  unfinished_file& out_;
  timestamp_ns base_;
  std::uint32_t sequences_ = 0;
  std::string bundle_;
  std::string compressed_;
  struct free_compressor {
    void operator()(libdeflate_compressor* compressor) const noexcept;
  };
  std::unique_ptr<libdeflate_compressor, free_compressor> compressor_;
};

}  // namespace gpuprof::perfetto
