// SPDX-License-Identifier: Apache-2.0
// Reads kernels, copies, fills, graphs, waits, allocations and migrations from an nsys export.
#include "host/import/nsys/nsys_source.hpp"
#include "host/import/source_values.hpp"

#include <algorithm>
#include <array>

namespace gpuprof::host {
namespace {

/// The first columns of all tables of GPU work.
enum {
  work_global,
  work_start,
  work_end,
  work_device,
  work_context,
  work_stream,
  work_correlation,
  first_other
};

template <class Id>
Id id_at(sqlite_rows const& row, int column) {
  return static_cast<Id>(row.integer(column));
}

std::uint32_t number_at(sqlite_rows const& row, int column) {
  return static_cast<std::uint32_t>(row.integer(column));
}

std::uint32_t size_at(sqlite_rows const& row, int column) {
  return size_in(row.integer(column));
}

bool has_size(sqlite_rows const& row, int column) {
  return !row.is_null(column) && is_size(row.integer(column));
}

/// Returns false if times are missing, and counts one of `what` ("kernels") as lost.
bool has_times(sqlite_rows const& row, imported_process& to, char const* what) {
  auto const has_both = !row.is_null(work_start) && !row.is_null(work_end);
  if (has_both && row.integer(work_start) <= row.integer(work_end)) return true;
  to.lose(std::string(what) + (has_both ? "_of_impossible_times" : "_without_time"));
  return false;
}

template <class Record>
bool take_common(sqlite_rows const& row, imported_process& to, char const* what, Record& record) {
  if (!has_times(row, to, what)) return false;
  record.start = to.moment(row.integer(work_start));
  record.duration = time_between(row.integer(work_start), row.integer(work_end));
  record.device = id_at<device_id>(row, work_device);
  record.context = to.context(row.integer(work_context));
  record.stream = to.stream(row.integer(work_stream));
  record.correlation = to.correlation(row.integer(work_correlation));
  return true;
}

/// gpuprof export adds the time and thread of the launch. `first` is the column of the time; the
/// next is the thread.
template <class Record>
void take_launch(sqlite_rows const& row, imported_process& to, Record& record, int first) {
  if (row.is_null(first) || row.is_null(first + 1)) return;
  record.launched = to.moment(row.integer(first));
  record.thread = to.thread(nsys_source::os_thread(row.integer(first + 1)));
}

/// The upper half of a node's number is the number of its graph.
template <class Record>
void take_graph(sqlite_rows const& row, imported_process& to, Record& record, int graph, int node) {
  record.node = id_at<graph_node_id>(row, node);
  record.graph = row.is_null(graph) ? static_cast<graph_id>(raw(record.node) >> 32)
                                    : to.graph(row.integer(graph));
}

void read_kernels(nsys_source& source) {
  source.each("CUPTI_ACTIVITY_KIND_KERNEL",
              {"globalPid",
               "start",
               "end",
               "deviceId",
               "contextId",
               "streamId",
               "correlationId",
               "mangledName",
               "demangledName",
               "shortName",
               "gridX",
               "gridY",
               "gridZ",
               "blockX",
               "blockY",
               "blockZ",
               "clusterX",
               "clusterY",
               "clusterZ",
               "registersPerThread",
               "staticSharedMemory",
               "dynamicSharedMemory",
               "localMemoryPerThread",
               "localMemoryTotal",
               "launchType",
               "maxActiveClusters",
               "graphId",
               "graphNodeId",
               "gpuprofLaunchStart",
               "gpuprofLaunchTid",
               "gpuprofTimeOf"},
              [&](sqlite_rows const& row, nsys_process& process) {
                kernel_record kernel;
                if (!take_common(row, *process.records, "kernels", kernel)) return;
                kernel_shape shape;
                int at = first_other;
                for (int i = 0; i < 3 && raw(shape.name) == 0; ++i)
                  if (!row.is_null(at + i)) shape.name = source.text(process, row.integer(at + i));
                at += 3;
                for (auto* const extent : {&shape.grid, &shape.block, &shape.cluster})
                  for (auto* const side : {&extent->x, &extent->y, &extent->z})
                    *side = size_at(row, at++);
                shape.registers_per_thread = size_at(row, at++);
                shape.shared_bytes_unknown = !has_size(row, at) || !has_size(row, at + 1);
                if (!shape.shared_bytes_unknown) {
                  shape.static_shared_bytes = size_at(row, at);
                  shape.dynamic_shared_bytes = size_at(row, at + 1);
                }
                at += 2;
                shape.local_bytes_per_thread = size_at(row, at++);
                shape.local_bytes_total = bytes_in(row.integer(at++));
                // 1: regular, 2 and 3: cooperative; gpuprof counts from 0, as CUPTI does.
                shape.launch_type =
                    static_cast<std::uint32_t>(std::max<std::int64_t>(row.integer(at++) - 1, 0));
                shape.max_active_clusters = size_at(row, at++);
                take_graph(row, *process.records, kernel, at, at + 1);
                take_launch(row, *process.records, kernel, at + 2);
                kernel.time_of = process.records->correlation(row.integer(at + 4));
                kernel.shape = process.records->shape(shape);
                process.records->add(kernel);
              });
}

/// In nsys, pageable is 0 and unknown is 7.
memory_kind memory_of(std::int64_t kind) {
  return kind >= 0 && kind < 7 ? static_cast<memory_kind>(kind + 1) : memory_kind::unknown;
}

/// nsys lists migrations of managed memory among the copies, as kinds 11 to 13.
void add_migration(sqlite_rows const& row, nsys_process& process, copy_record const& copy,
                   std::int64_t kind) {
  constexpr std::array<std::uint32_t, 3> counters = {1, 2, 8};  // CUPTI's, for migrated bytes
  unified_memory_record moved;
  moved.start = copy.start;
  moved.duration = copy.duration;
  moved.counter = counters[static_cast<std::size_t>(kind - 11)];
  moved.value = copy.bytes;
  moved.address = static_cast<std::uint64_t>(row.integer(first_other + 8));
  moved.source_device = copy.device;
  moved.destination_device = copy.device;
  moved.stream = copy.stream;
  process.records->migrations.add(moved);
}

void read_copies(nsys_source& source) {
  source.each(
      "CUPTI_ACTIVITY_KIND_MEMCPY",
      {"globalPid",
       "start",
       "end",
       "deviceId",
       "contextId",
       "streamId",
       "correlationId",
       "bytes",
       "copyKind",
       "srcKind",
       "dstKind",
       "srcDeviceId",
       "dstDeviceId",
       "graphId",
       "graphNodeId",
       "virtualAddress",
       "gpuprofLaunchStart",
       "gpuprofLaunchTid",
       "gpuprofAsynchronous",
       "gpuprofTimeOf"},
      [](sqlite_rows const& row, nsys_process& process) {
        copy_record copy;
        if (!take_common(row, *process.records, "copies", copy)) return;
        copy.bytes = bytes_in(row.integer(first_other));
        auto const kind = row.integer(first_other + 1);
        if (kind >= 11 && kind <= 13) return add_migration(row, process, copy, kind);
        copy.kind = kind >= 0 && kind <= 10 ? static_cast<copy_kind>(kind) : copy_kind::unknown;
        if (!row.is_null(first_other + 2))
          copy.source_kind = memory_of(row.integer(first_other + 2));
        if (!row.is_null(first_other + 3))
          copy.destination_kind = memory_of(row.integer(first_other + 3));
        auto const is_peer = copy.kind == copy_kind::peer_to_peer;
        copy.source_device = is_peer ? id_at<device_id>(row, first_other + 4) : copy.device;
        copy.destination_device = is_peer ? id_at<device_id>(row, first_other + 5) : copy.device;
        take_graph(row, *process.records, copy, first_other + 6, first_other + 7);
        take_launch(row, *process.records, copy, first_other + 9);
        copy.asynchronous = row.integer(first_other + 11) != 0;
        copy.time_of = process.records->correlation(row.integer(first_other + 12));
        process.records->add(copy);
      });
}

void read_fills(nsys_source& source) {
  source.each("CUPTI_ACTIVITY_KIND_MEMSET",
              {"globalPid", "start", "end", "deviceId", "contextId", "streamId", "correlationId",
               "bytes", "value", "memKind", "graphId", "graphNodeId", "gpuprofLaunchStart",
               "gpuprofLaunchTid", "gpuprofAsynchronous", "gpuprofTimeOf"},
              [](sqlite_rows const& row, nsys_process& process) {
                memset_record fill;
                if (!take_common(row, *process.records, "fills", fill)) return;
                fill.bytes = bytes_in(row.integer(first_other));
                fill.value = number_at(row, first_other + 1);
                if (!row.is_null(first_other + 2))
                  fill.kind = memory_of(row.integer(first_other + 2));
                take_graph(row, *process.records, fill, first_other + 3, first_other + 4);
                take_launch(row, *process.records, fill, first_other + 5);
                fill.asynchronous = row.integer(first_other + 7) != 0;
                fill.time_of = process.records->correlation(row.integer(first_other + 8));
                process.records->add(fill);
              });
}

void read_graphs(nsys_source& source) {
  source.each("CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
              {"globalPid", "start", "end", "deviceId", "contextId", "streamId", "correlationId",
               "graphId", "gpuprofLaunchStart", "gpuprofLaunchTid"},
              [](sqlite_rows const& row, nsys_process& process) {
                graph_record graph;
                if (!take_common(row, *process.records, "graphs", graph)) return;
                graph.graph = process.records->graph(row.integer(first_other));
                take_launch(row, *process.records, graph, first_other + 1);
                process.records->add(graph);
              });
}

void read_waits(nsys_source& source) {
  source.each("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
              {"globalPid", "start", "end", "contextId", "streamId", "correlationId", "syncType",
               "deprecatedSyncType", "eventId"},
              [](sqlite_rows const& row, nsys_process& process) {
                if (!has_times(row, *process.records, "waits")) return;
                sync_record wait;
                wait.start = process.records->moment(row.integer(1));
                wait.duration = time_between(row.integer(1), row.integer(2));
                wait.context = process.records->context(row.integer(3));
                // A wait for all streams of a context has a number that no stream has.
                wait.stream = process.records->stream(row.integer(4));
                wait.correlation = process.records->correlation(row.integer(5));
                wait.type = static_cast<std::uint8_t>(row.integer(row.is_null(6) ? 7 : 6));
                wait.event = number_at(row, 8);
                process.records->syncs.add(wait);
              });
}

void read_allocations(nsys_source& source) {
  source.each("CUDA_GPU_MEMORY_USAGE_EVENTS",
              {"globalPid", "start", "deviceId", "contextId", "streamId", "correlationId",
               "address", "bytes", "memKind", "memoryOperationType", "localMemoryPoolAddress"},
              [](sqlite_rows const& row, nsys_process& process) {
                if (row.is_null(1)) return process.records->lose("allocations_without_time");
                memory_record made;
                made.time = process.records->moment(row.integer(1));
                made.device = id_at<device_id>(row, 2);
                made.context = process.records->context(row.integer(3));
                made.stream = process.records->stream(row.integer(4));
                made.correlation = process.records->correlation(row.integer(5));
                made.address = static_cast<std::uint64_t>(row.integer(6));
                made.bytes = bytes_in(row.integer(7));
                if (!row.is_null(8)) made.kind = memory_of(row.integer(8));
                made.operation = row.integer(9) == 0   ? memory_operation::allocate
                                 : row.integer(9) == 1 ? memory_operation::release
                                                       : memory_operation::unknown;
                made.pool_address = static_cast<std::uint64_t>(row.integer(10));
                process.records->allocations.add(made);
              });
}

}  // namespace

void read_nsys_gpu_work(nsys_source& source) {
  read_kernels(source);
  read_copies(source);
  read_fills(source);
  read_graphs(source);
  read_waits(source);
  read_allocations(source);
}

}  // namespace gpuprof::host
