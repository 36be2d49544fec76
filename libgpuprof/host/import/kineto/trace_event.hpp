// SPDX-License-Identifier: Apache-2.0
// One event of a trace, with those of its arguments that an import needs.
#pragma once

#include "host/import/kineto/json_scanner.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpuprof {

/// Of a number of microseconds with decimals, exactly.
std::optional<std::int64_t> nanoseconds_in(std::string_view microseconds);

struct trace_event {
  std::string phase, category, name;
  std::optional<std::int64_t> process, thread;  // where they are numbers
  std::string thread_text;                      // where not
  std::optional<std::int64_t> start, duration;  // ns

  std::optional<std::int64_t> correlation, device, context, stream, bytes, registers, shared_memory,
      graph, node, event, result;
  std::array<std::int64_t, 3> grid{}, block{};
  double flops = 0;
  bool is_made = false;     // by gpuprof export, of a launch whose call was not recorded
  std::string wait_kind;    // "Stream Sync"
  std::string object_name;  // of metadata

  void clear();
};

/// After its `object`; false: the text ends inside.
bool read_event(json_scanner& from, trace_event& event);

}  // namespace gpuprof
