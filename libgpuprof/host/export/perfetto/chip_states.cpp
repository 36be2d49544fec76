// SPDX-License-Identifier: Apache-2.0
#include "host/export/perfetto/chip_states.hpp"

#include "host/export/chip_state_figures.hpp"
#include "host/export/perfetto/sequence.hpp"
#include "host/reading/ordered_rows.hpp"

#include <map>
#include <string>
#include <utility>

namespace gpuprof::perfetto {

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

}  // namespace gpuprof::perfetto
