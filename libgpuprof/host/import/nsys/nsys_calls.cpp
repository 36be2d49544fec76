// SPDX-License-Identifier: Apache-2.0
// Reads calls of the CUDA runtime and driver from an nsys export.
#include "host/import/nsys/nsys_source.hpp"
#include "host/import/source_values.hpp"

namespace gpuprof::host {

void read_nsys_calls(nsys_source& source) {
  source.each(
      "CUPTI_ACTIVITY_KIND_RUNTIME",
      {"globalTid", "start", "end", "nameId", "correlationId", "returnValue", "gpuprofIsMade"},
      [&](sqlite_rows const& row, nsys_process& process) {
        if (row.is_null(1) || row.is_null(2))
          return process.records->lose("API_calls_without_time");
        imported_call made;
        auto& call = made.call;
        if (row.integer(2) < row.integer(1))
          return process.records->lose("API_calls_of_impossible_times");
        call.start = process.records->moment(row.integer(1));
        call.duration = time_between(row.integer(1), row.integer(2));
        call.name = source.text(process, row.integer(3));
        // Newer versions store a number for it, whose meaning has changed.
        auto const name = process.records->names().text(call.name);
        call.domain = name.starts_with("cuda") ? api_domain::runtime : api_domain::driver;
        call.correlation = process.records->correlation(row.integer(4));
        call.result = static_cast<std::int32_t>(row.integer(5));
        call.os_thread = nsys_source::os_thread(row.integer(0));
        made.is_made = row.integer(6) != 0;
        made.thread = process.records->thread(call.os_thread);
        process.records->calls.add(made);
      });
}

}  // namespace gpuprof::host
