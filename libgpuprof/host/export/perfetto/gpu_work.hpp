// SPDX-License-Identifier: Apache-2.0
// Kernels, copies, fills and graphs as render stages, each in the row of its stream, with the
// arrows from where they were launched.
#pragma once

#include "host/export/perfetto/counters.hpp"
#include "host/export/perfetto/gpu_names.hpp"
#include "host/export/perfetto/packets.hpp"
#include "host/export/perfetto/tracks.hpp"
#include "model/ids.hpp"

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace gpuprof::host::perfetto {

/// Ids of GPU work: unique in the file, and known from the call that launched it. A call launches
/// one thing, or, with a graph, several: its correlation, with 0, 1, 2, ... above.
class gpu_event_ids {
 public:
  static std::uint64_t id(correlation_id correlation, std::uint64_t which) noexcept {
    return which << 32 | raw(correlation);
  }

  /// Of the next thing that this call has launched.
  std::uint64_t next(correlation_id correlation) {
    auto& page = pages_[raw(correlation) >> page_bits];
    if (!page) page = std::make_unique<std::bitset<page_size>>();
    auto bit = (*page)[raw(correlation) % page_size];
    if (bit) return id(correlation, ++more_[raw(correlation)]);
    bit = true;
    return id(correlation, 0);
  }

  /// How many a call has launched.
  std::uint64_t count(correlation_id correlation) const {
    auto const& page = pages_[raw(correlation) >> page_bits];
    if (!page || !page->test(raw(correlation) % page_size)) return 0;
    auto const more = more_.find(raw(correlation));
    return more != more_.end() ? more->second + 1 : 1;
  }

 private:
  static constexpr unsigned page_bits = 16;
  static constexpr std::size_t page_size = 1u << page_bits;
  std::array<std::unique_ptr<std::bitset<page_size>>, 1u << (32 - page_bits)> pages_;
  std::unordered_map<std::uint32_t, std::uint64_t> more_;
};

/// An instant on the thread, with an arrow to what it launched. Where all API calls are there they
/// have the arrows, and this writes nothing.
class launch_marks {
 public:
  launch_marks(packet_file& file, export_job& job, tracks& of)
      : marks_(file), tracks_(of), wanted_(job.trace.calls() != captured_calls::all) {}

  template <class Row>
  void add(Row const& row, std::uint64_t event) {
    if (wanted_ && row.launched.value != 0 && raw(row.thread) != 0)
      add(row.launched, tracks_.thread(row.thread), event);
  }

 private:
  void add(timestamp_ns at, track_id thread, std::uint64_t event);

  sequence marks_;
  tracks& tracks_;
  bool wanted_ = false;
  bool named_ = false;
};

class gpu_work {
 public:
  gpu_work(packet_file& file, export_job& job, tracks& of);

  void write();
  /// After write(): what each call has launched.
  gpu_event_ids const& ids() const noexcept { return *ids_; }
  void add_notes(export_notes& to) const { readings_.add_notes(to); }

 private:
  void add(kernel_record const& kernel);
  void add(copy_record const& copy);
  void add(memset_record const& fill);
  void add(graph_record const& graph);
  template <class Row, class Fill>
  void add_event(Row const& row, gpu_place const& place, std::uint64_t stage, Fill&& fill);
  template <class Row>
  void add_plain(Row const& row, std::string const& name, std::int32_t category,
                 std::string const& arguments);

  export_job& job_;
  sequence stages_;
  gpu_names names_;
  std::unique_ptr<gpu_event_ids> ids_ = std::make_unique<gpu_event_ids>();
  launch_marks marks_;
  counter_readings readings_;
};

}  // namespace gpuprof::host::perfetto
