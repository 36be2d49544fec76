// SPDX-License-Identifier: Apache-2.0
// Writes a trace with hardware counters to a capture file.
#pragma once

#include "capture/writer.hpp"
#include "support/catch.hpp"
#include "support/counted_trace.hpp"

#include <functional>
#include <string>

namespace gpuprof::test {

/// `more` adds rows that a counted_trace does not have.
inline void write_capture(std::string const& path, counted_trace c,
                          std::function<void(capture::writer&)> const& more = {}) {
  auto made = capture::writer::create(path, capture::create_mode::fail_if_exists);
  REQUIRE(made);
  auto& file = **made;
  auto& names = c.t.names;
  window_record const window{.index = 0,
                             .start = c.captured_from,
                             .end = c.captured_until,
                             .trigger = names.intern("start")};
  fact_record const fact{names.intern("process.command_line"), names.intern(c.command_line)};
  fact_record const process{names.intern("process.id"), names.intern("4001")};
  std::vector<counter_record> counters{{names.intern("cost.start_ns"), 9'800'000}};
  for (auto const& [name, value] : c.counters) counters.push_back({names.intern(name), value});
  for (std::uint32_t id = 1; id < names.size(); ++id)
    file.add_name(static_cast<name_id>(id), names.text(static_cast<name_id>(id)));
  file.add(fact);
  file.add(process);
  file.add(thread_record{static_cast<thread_index>(1), 4001, {}});
  file.add(c.device);
  file.add(window);
  for (auto const& row : c.metrics) file.add(row);
  for (auto const& row : c.peaks) file.add(row);
  for (auto const& row : c.t.shapes) file.add(row);
  for (auto const& row : c.t.begins) file.add(row);
  for (auto const& row : c.t.ends) file.add(row);
  if (more) more(file);
  for (auto const& row : c.t.kernels) file.add(row);
  for (auto const& row : c.t.copies) file.add(row);
  for (auto const& row : c.t.graphs) file.add(row);
  for (auto const& row : c.samples) file.add(row);
  for (auto const& row : c.values) file.add(row);
  for (auto const& row : c.windows) file.add(row);
  for (auto const& row : c.rows) file.add(row);
  for (auto const& row : c.codes) file.add(row);
  for (auto const& row : counters) file.add(row);
  REQUIRE(file.flush());
  REQUIRE(file.close());
}

}  // namespace gpuprof::test
