// SPDX-License-Identifier: Apache-2.0
#include "host/export/perfetto/packets.hpp"

#include "host/export/perfetto/fields.hpp"

#include <libdeflate.h>
#include <new>

namespace gpuprof::host::perfetto {
namespace {

// Readers want less than 512 KB per bundle.
constexpr std::size_t bundle_bytes = 480 << 10;
constexpr int level = 1;

void append_field(std::string& out, trace field, std::string_view bytes) {
  message<trace>(out).add_message(field, bytes.data(), bytes.size());
}

void add_clock(message<clock_snapshot>& to, std::uint32_t id, timestamp_ns at) {
  message<clock> one(to, clock_snapshot::clocks);
  one.add_uint32(clock::clock_id, id);
  one.add_uint64(clock::timestamp, at.value);
  if (id == sequence_clock) one.add_bool(clock::is_incremental, true);
}

}  // namespace

packet_file::packet_file(unfinished_file& out, timestamp_ns base)
    : out_(out), base_(base), compressor_(libdeflate_alloc_compressor(level)) {
  if (!compressor_) throw std::bad_alloc();
  bundle_.reserve(bundle_bytes);
}

packet_file::~packet_file() = default;

void packet_file::free_compressor::operator()(libdeflate_compressor* compressor) const noexcept {
  libdeflate_free_compressor(compressor);
}

void packet_file::add(std::string_view packet) {
  constexpr std::size_t before_packet = 6;  // field number and length of the bundle
  if (bundle_.size() + packet.size() + before_packet > bundle_bytes) write_bundle();
  append_field(bundle_, trace::packet, packet);
}

void packet_file::write_bundle() {
  if (bundle_.empty()) return;
  compressed_.resize(libdeflate_zlib_compress_bound(compressor_.get(), bundle_.size()));
  compressed_.resize(libdeflate_zlib_compress(compressor_.get(), bundle_.data(), bundle_.size(),
                                              compressed_.data(), compressed_.size()));
  bundle_.clear();
  std::string whole;
  {
    message<trace> file(whole);
    message<packet>(file, trace::packet).add_bytes(packet::compressed_packets, compressed_);
  }
  out_.put(whole);
}

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

}  // namespace gpuprof::host::perfetto
