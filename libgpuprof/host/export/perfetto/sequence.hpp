// SPDX-License-Identifier: Apache-2.0
// A sequence of packets with a clock of its own, and names that are said once and then numbered.
#pragma once

#include "host/export/perfetto/fields.hpp"
#include "host/export/perfetto/packet_file.hpp"

#include <string>

namespace gpuprof::perfetto {

/// Times are differences to the packet before, two or three bytes where most are ordered. Perfetto
/// adds them up with their sign, so that one may lie before the other.
class sequence {
 public:
  explicit sequence(packet_file& file)
      : file_(&file), id_(file.new_sequence()), last_(file.base()) {}

  /// Writes a packet; fill(message<packet>&) gives it its contents.
  template <class Fill>
  void add(timestamp_ns at, Fill&& fill) {
    if (!begun_) begin();
    packet_.clear();
    {
      message<packet> out(packet_);
      out.add_uint64(packet::timestamp, at.value - last_.value);
      out.add_uint32(packet::trusted_packet_sequence_id, id_);
      out.add_uint32(packet::sequence_flags, needs_interned);
      fill(out);
      if (!interned_.empty()) out.add_message(packet::interned_data, interned_);
    }
    interned_.clear();
    last_ = at;
    file_->add(packet_);
  }

  /// What is interned by it goes out with the next packet, or with the one that is being filled.
  message<interned_data> intern() { return message<interned_data>(interned_); }

 private:
  void begin();

  packet_file* file_;
  std::uint32_t id_;
  timestamp_ns last_;
  bool begun_ = false;
  std::string interned_;
  std::string packet_;
};

}  // namespace gpuprof::perfetto
