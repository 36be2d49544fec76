// SPDX-License-Identifier: Apache-2.0
// Writes packets: bundles in the file, sequences with a clock of their own, and names that are
// written once and then referred to by number.
#pragma once

#include "base/time.hpp"
#include "host/export/perfetto/fields.hpp"
#include "host/export/unfinished_output.hpp"
#include "model/ids.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

struct libdeflate_compressor;

namespace gpuprof::host::perfetto {

/// A bundle is a packet that holds other complete packets as one zlib stream.
class packet_file {
 public:
  /// All sequences count their times from `base`.
  packet_file(unfinished_file& out, timestamp_ns base);
  packet_file(packet_file const&) = delete;
  packet_file& operator=(packet_file const&) = delete;
  ~packet_file();

  timestamp_ns base() const noexcept { return base_; }
  std::uint32_t new_sequence() noexcept { return ++sequences_; }

  void add(std::string_view packet);
  /// Writes the last bundle. The owner of the file finishes the file itself.
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

/// Times are differences to the previous packet and take two or three bytes if most are in order.
/// Perfetto adds signed differences, so a packet may be earlier than the one before.
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

  /// Interned data goes out with the next packet, or with the one that is being filled.
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

/// Numbers the names of events, categories and notes on a sequence.
class event_names {
 public:
  explicit event_names(sequence& on) : on_(on) {}

  /// Numbers a name of the capture. Calls text() for the name when the id is new.
  template <class Text>
  std::uint64_t event(name_id id, Text&& text) {
    auto const [at, is_new] = events_.try_emplace(raw(id));
    if (is_new) at->second = add(interned_data::event_names, ++last_event_, text());
    return at->second;
  }
  /// Numbers a text of gpuprof; there are few.
  std::uint64_t event(std::string_view text) {
    return fixed(interned_data::event_names, last_event_, text);
  }
  std::uint64_t category(std::string_view text) {
    return fixed(interned_data::event_categories, last_category_, text);
  }
  std::uint64_t annotation(std::string_view text) {
    return fixed(interned_data::debug_annotation_names, last_annotation_, text);
  }

 private:
  std::uint64_t add(interned_data field, std::uint64_t iid, std::string_view text) {
    auto data = on_.intern();
    message<interned_name> one(data, field);
    one.add_uint64(interned_name::iid, iid);
    one.add_string(interned_name::name, text.data(), text.size());
    return iid;
  }
  std::uint64_t fixed(interned_data field, std::uint64_t& last, std::string_view text) {
    auto& known = fixed_[static_cast<field_number>(field)];
    auto const found = known.find(text);
    if (found != known.end()) return found->second;
    return known.emplace(std::string(text), add(field, ++last, text)).first->second;
  }

  sequence& on_;
  std::unordered_map<std::uint32_t, std::uint64_t> events_;
  std::map<field_number, std::map<std::string, std::uint64_t, std::less<>>> fixed_;
  std::uint64_t last_event_ = 0, last_category_ = 0, last_annotation_ = 0;
};

}  // namespace gpuprof::host::perfetto
