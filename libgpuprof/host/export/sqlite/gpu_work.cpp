// SPDX-License-Identifier: Apache-2.0
// Writes rows of GPU work: kernels, copies, fills, graphs.
#include "host/export/sqlite/sqlite_output.hpp"
#include "host/reading/time_merge.hpp"

#include <cassert>

namespace gpuprof::host {
namespace {

/// nsys counts launch types from 1: 0 is "unknown".
constexpr std::uint32_t first_launch_type = 1;

/// Returns the value of ENUM_CUDA_MEMCPY_OPER for a CUPTI counter of unified memory; 0 for other
/// counters.
constexpr int migration_kind(std::uint32_t counter) noexcept {
  switch (counter) {
    case 1:
      return 11;
    case 2:
      return 12;
    case 8:
      return 13;
    default:
      return 0;
  }
}

class kernel_rows {
 public:
  explicit kernel_rows(sqlite_output& to) : to_(to), rows_(to.file, tables::kernel) {
    rows_.bind(process_place, to.terms.global_process());
  }

  void add(kernel_record const& kernel) {
    if (!has_shape_ || kernel.shape != shape_) take_shape(kernel.shape);
    auto const& terms = to_.terms;
    rows_.bind(1, terms.time(kernel.start));
    rows_.bind(2, terms.time(kernel.start + kernel.duration));
    rows_.bind(3, raw(kernel.device));
    rows_.bind(4, raw(kernel.context));
    rows_.bind(5, raw(kernel.stream));
    rows_.bind(6, raw(kernel.correlation));
    rows_.bind(last_of_shape + 1, unless_zero(raw(kernel.graph)));
    rows_.bind(last_of_shape + 2, unless_zero(raw(kernel.node)));
    rows_.bind(last_of_shape + 3, terms.time_if_known(kernel.launched));
    rows_.bind(last_of_shape + 4, terms.global_thread(kernel.thread));
    rows_.bind(last_of_shape + 5, unless_zero(raw(kernel.range)));
    rows_.bind(last_of_shape + 6, unless_zero(raw(kernel.time_of)));
    rows_.add();
  }

 private:
  /// Bound once for consecutive launches with the same shape.
  void take_shape(shape_id id) {
    auto const& shape = to_.job.names.shape(id);
    auto const& names = to_.strings.of(to_.job.names.kernel_of(id));
    int place = process_place;
    auto const next = [&](auto value) { rows_.bind(++place, value); };
    next(names.demangled);
    next(names.base);
    next(names.mangled);
    next(shape.launch_type + first_launch_type);
    next(shape.registers_per_thread);
    for (auto const& size : {shape.grid, shape.block}) {
      next(size.x);
      next(size.y);
      next(size.z);
    }
    auto const if_known = [&](std::int64_t bytes) {
      return shape.shared_bytes_unknown ? std::nullopt : std::optional(bytes);
    };
    next(if_known(shape.static_shared_bytes));
    next(if_known(shape.dynamic_shared_bytes));
    next(shape.local_bytes_per_thread);
    next(shape.local_bytes_total);
    next(unless_zero(shape.cluster.x));
    next(unless_zero(shape.cluster.y));
    next(unless_zero(shape.cluster.z));
    next(unless_zero(shape.max_active_clusters));
    next(unless_zero(shape.arguments));
    assert(place == last_of_shape);
    shape_ = id;
    has_shape_ = true;
  }

  // Column indexes of tables::kernel.
  static constexpr int process_place = 7, last_of_shape = 27;

  sqlite_output& to_;
  insertion rows_;
  shape_id shape_{};
  bool has_shape_ = false;
};

class copy_rows {
 public:
  explicit copy_rows(sqlite_output& to) : to_(to), rows_(to.file, tables::memcpy) {}

  void add(copy_record const& copy) {
    auto const& terms = to_.terms;
    auto const is_peer = copy.kind == copy_kind::peer_to_peer ||
                         copy.source_device != copy.device ||
                         copy.destination_device != copy.device;
    auto const peer = [&](device_id device) {
      return is_peer ? std::optional(raw(device)) : std::nullopt;
    };
    rows_.row(terms.time(copy.start), terms.time(copy.start + copy.duration), raw(copy.device),
              raw(copy.context), raw(copy.stream), raw(copy.correlation), terms.global_process(),
              copy.bytes, static_cast<int>(copy.kind), nsys_memory_kind(copy.source_kind),
              nsys_memory_kind(copy.destination_kind), peer(copy.source_device),
              peer(copy.destination_device), unless_zero(raw(copy.graph)),
              unless_zero(raw(copy.node)), nullptr, copy.copies(), copy.asynchronous,
              terms.time_if_known(copy.launched), terms.global_thread(copy.thread),
              unless_zero(raw(copy.range)), unless_zero(raw(copy.time_of)));
  }

  /// A migration is not launched by a call: it has no correlation, thread or range.
  void add(unified_memory_record const& moved) {
    auto const kind = migration_kind(moved.counter);
    if (kind == 0) return;
    auto const& terms = to_.terms;
    auto const to_host = kind == 12;
    rows_.row(terms.time(moved.start), terms.time(moved.start + moved.duration),
              raw(to_host ? moved.source_device : moved.destination_device), 0, raw(moved.stream),
              nullptr, terms.global_process(), moved.value, kind, nullptr, nullptr, nullptr,
              nullptr, nullptr, nullptr, moved.address, nullptr, nullptr, nullptr, nullptr, nullptr,
              nullptr);
  }

 private:
  sqlite_output& to_;
  insertion rows_;
};

void write_fills(sqlite_output& to) {
  auto const& terms = to.terms;
  insertion rows(to.file, tables::memset);
  row_progress progress(to.job);
  ordered_rows<memset_record> fills(to.job.trace.file());
  while (auto const* const fill = fills.next()) {
    rows.row(terms.time(fill->start), terms.time(fill->start + fill->duration), raw(fill->device),
             raw(fill->context), raw(fill->stream), raw(fill->correlation), terms.global_process(),
             fill->value, fill->bytes, unless_zero(raw(fill->graph)), unless_zero(raw(fill->node)),
             nsys_memory_kind(fill->kind), fill->asynchronous, terms.time_if_known(fill->launched),
             terms.global_thread(fill->thread), unless_zero(raw(fill->range)),
             unless_zero(raw(fill->time_of)));
    to.calls.see(*fill);
    progress.one();
  }
  progress.end();
}

}  // namespace

void write_kernels(sqlite_output& to) {
  kernel_rows rows(to);
  row_progress progress(to.job);
  ordered_rows<kernel_record> kernels(to.job.trace.file());
  while (auto const* const kernel = kernels.next()) {
    rows.add(*kernel);
    to.calls.see(*kernel);
    progress.one();
  }
  progress.end();
}

void write_memory_work(sqlite_output& to) {
  {
    copy_rows rows(to);
    row_progress progress(to.job);
    for_each_in_time<copy_record, unified_memory_record>(to.job.trace.file(), [&](auto const& row) {
      rows.add(row);
      if constexpr (requires { row.kind; }) {
        to.calls.see(row);
        progress.one();
      }
    });
    progress.end();
  }
  write_fills(to);
}

void write_graphs(sqlite_output& to) {
  auto const& terms = to.terms;
  insertion rows(to.file, tables::graph_trace);
  row_progress progress(to.job);
  ordered_rows<graph_record> graphs(to.job.trace.file());
  while (auto const* const graph = graphs.next()) {
    rows.row(terms.time(graph->start), terms.time(graph->start + graph->duration),
             raw(graph->device), raw(graph->context), raw(graph->stream), raw(graph->correlation),
             terms.global_process(), raw(graph->graph), terms.time_if_known(graph->launched),
             terms.global_thread(graph->thread), unless_zero(raw(graph->range)));
    to.calls.see(*graph);
    progress.one();
  }
  progress.end();
}

}  // namespace gpuprof::host
