// SPDX-License-Identifier: Apache-2.0
// Writes rows about the program's work on the CPU: API calls, waits, allocations of device memory.
#include "host/export/sqlite/sqlite_output.hpp"
#include "host/reading/ordered_rows.hpp"

namespace gpuprof::host {
namespace {

/// Values of ENUM_CUDA_DEV_MEM_EVENT_OPER; gpuprof has added the last one.
constexpr int nsys_operation(memory_operation operation) noexcept {
  switch (operation) {
    case memory_operation::allocate:
      return 0;
    case memory_operation::release:
      return 1;
    case memory_operation::unknown:
      break;
  }
  return 2;
}

void write_api_calls(sqlite_output& to) {
  auto const& terms = to.terms;
  insertion rows(to.file, tables::runtime);
  row_progress progress(to.job);
  ordered_rows<api_record> calls(to.job.trace.file());
  while (auto const* const call = calls.next()) {
    rows.row(terms.time(call->start), terms.time(call->start + call->duration),
             static_cast<int>(call->domain), terms.global_thread(call->os_thread),
             raw(call->correlation), to.strings.of(call->name), call->result, nullptr);
    progress.one();
  }
  progress.end();
}

void write_waits(sqlite_output& to) {
  auto const& terms = to.terms;
  insertion rows(to.file, tables::synchronization);
  ordered_rows<sync_record> waits(to.job.trace.file());
  while (auto const* const wait = waits.next())
    rows.row(terms.time(wait->start), terms.time(wait->start + wait->duration),
             raw(terms.device_of(wait->context)), raw(wait->context), raw(wait->stream),
             raw(wait->correlation), terms.global_process(), wait->type, wait->event, wait->result);
}

void write_allocations(sqlite_output& to) {
  auto const& terms = to.terms;
  insertion rows(to.file, tables::memory_usage);
  ordered_rows<memory_record> events(to.job.trace.file());
  while (auto const* const event = events.next())
    rows.row(terms.time(event->time), terms.global_process(), raw(event->device),
             raw(event->context), event->address, event->bytes, nsys_memory_kind(event->kind),
             nsys_operation(event->operation), raw(event->correlation), raw(event->stream),
             unless_zero(event->pool_address), event->asynchronous);
}

}  // namespace

void write_calls(sqlite_output& to) {
  write_api_calls(to);
  write_waits(to);
  write_allocations(to);
}

}  // namespace gpuprof::host
