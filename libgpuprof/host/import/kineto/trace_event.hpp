// SPDX-License-Identifier: Apache-2.0
// One event of a trace, with those of its arguments that an import needs.
#pragma once

#include "host/import/kineto/json_scanner.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpuprof::host {

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
  std::string wait_kind;    // "Stream Sync"
  std::string object_name;  // of metadata
  /// The arguments of a collective of NCCL. The ranks are "[0, 1]".
  std::string collective, element_type, group_name, group_ranks;
  std::optional<std::int64_t> elements_in, elements_out, group_size;
  std::string input_shapes;  // of operators, as JSON
  /// Operators that autograd knows: the one of the backward pass has the number of its forward one.
  std::optional<std::int64_t> sequence, forward_thread;

  // gpuprof export adds these, so that an import finds them again.
  bool is_made = false;  // of a launch whose call was not recorded, or of counters
  std::optional<std::int64_t> launching_thread;  // the event is on a row beside that of its thread
  std::optional<std::int64_t> launched;          // ns; not the start of the recorded call
  std::optional<std::int64_t> time_of;           // a correlation
  std::optional<std::int64_t> kind;              // category of a range
  std::string domain, range, payload, trigger;
  bool payload_is_text = false, is_open = false, is_start_end = false;
  double declared_bytes = 0;

  void clear();
  /// In traces of other programs such arguments mean something else.
  void clear_what_exports_add();
};

/// After its `object`; false: the text ends inside.
bool read_event(json_scanner& from, trace_event& event);

}  // namespace gpuprof::host
