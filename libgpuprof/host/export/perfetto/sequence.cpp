// SPDX-License-Identifier: Apache-2.0
#include "host/export/perfetto/sequence.hpp"

namespace gpuprof::perfetto {
namespace {

void add_clock(message<clock_snapshot>& to, std::uint32_t id, timestamp_ns at) {
  message<clock> one(to, clock_snapshot::clocks);
  one.add_uint32(clock::clock_id, id);
  one.add_uint64(clock::timestamp, at.value);
  if (id == sequence_clock) one.add_bool(clock::is_incremental, true);
}

}  // namespace

void sequence::begin() {
  begun_ = true;
  packet_.clear();
  {
    message<packet> out(packet_);
    out.add_uint32(packet::trusted_packet_sequence_id, id_);
    out.add_uint32(packet::sequence_flags, interned_anew | needs_interned);
    out.add_bool(packet::first_packet_on_sequence, true);
    {
      message<clock_snapshot> snapshot(out, packet::clock_snapshot);
      add_clock(snapshot, sequence_clock, last_);
      add_clock(snapshot, realtime_clock, last_);
      snapshot.add_enum(clock_snapshot::primary_trace_clock, realtime_clock);
    }
    message<packet_defaults>(out, packet::trace_packet_defaults)
        .add_uint32(packet_defaults::timestamp_clock_id, sequence_clock);
  }
  file_->add(packet_);
}

}  // namespace gpuprof::perfetto
