// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/memory_summary.hpp"
#include "host/export/measured_figures.hpp"
#include "host/export/perfetto/packets.hpp"
#include "host/export/perfetto/writers.hpp"
#include "host/reading/ordered_rows.hpp"

#include <map>
#include <string>
#include <unordered_map>
#include <utility>

namespace gpuprof::host::perfetto {
namespace {

class allocations {
 public:
  allocations(packet_file& file, export_job& job, tracks& of)
      : job_(job), tracks_(of), values_(file) {}

  void write() {
    ordered_rows<memory_record> rows(job_.trace.file());
    while (auto const* row = rows.next()) {
      add(*row);
      job_.advance(0);
    }
  }

 private:
  struct kind_total {
    track_id track{};
    std::int64_t bytes = 0;
  };

  kind_total& total_of(memory_record const& row) {
    auto const [at, is_new] = totals_.try_emplace({row.kind, row.device});
    if (is_new)
      at->second.track =
          tracks_.counter_in_bytes("Allocated memory: " + std::string(text_of(row.kind)) +
                                   ", GPU " + std::to_string(raw(row.device)));
    return at->second;
  }

  /// Memory allocated before the capture began is not known, so its release changes nothing.
  void add(memory_record const& row) {
    auto& total = total_of(row);
    if (row.operation == memory_operation::allocate) {
      live_[row.address] = row.bytes;
      total.bytes += static_cast<std::int64_t>(row.bytes);
    } else if (auto const known = live_.find(row.address);
               known != live_.end() && row.operation == memory_operation::release) {
      total.bytes -= static_cast<std::int64_t>(known->second);
      live_.erase(known);
    } else {
      return;
    }
    values_.add(row.time, [&](message<packet>& out) {
      message<track_event> event(out, packet::track_event);
      event.add_enum(track_event::type, counter);
      event.add_uint64(track_event::track_uuid, static_cast<std::uint64_t>(total.track));
      event.add_int64(track_event::counter_value, total.bytes);
    });
  }

  export_job& job_;
  tracks& tracks_;
  sequence values_;
  std::map<std::pair<memory_kind, device_id>, kind_total> totals_;
  std::unordered_map<std::uint64_t, std::uint64_t> live_;  // bytes by address
};

}  // namespace

void write_allocations(packet_file& file, export_job& job, tracks& of) {
  allocations(file, job, of).write();
}

void write_chip_states(packet_file& file, export_job& job, tracks& of) {
  sequence values(file);
  std::map<std::pair<device_id, char const*>, track_id> known;
  auto const track_of = [&](device_id device, chip_state_figure const& figure) {
    auto const [at, is_new] = known.try_emplace({device, figure.name});
    if (is_new)
      at->second =
          of.counter("GPU " + std::to_string(raw(device)) + " " + figure.name, figure.unit);
    return at->second;
  };
  ordered_rows<chip_state_record> rows(job.trace.file());
  while (auto const* row = rows.next()) {
    for (auto const& figure : chip_state_figures) {
      auto const value = figure.value(*row);
      if (value <= 0) continue;
      auto const track = track_of(row->device, figure);
      values.add(row->time, [&](message<packet>& out) {
        message<track_event> event(out, packet::track_event);
        event.add_enum(track_event::type, counter);
        event.add_uint64(track_event::track_uuid, static_cast<std::uint64_t>(track));
        event.add_double(track_event::double_counter_value, value);
      });
    }
  }
}

}  // namespace gpuprof::host::perfetto
