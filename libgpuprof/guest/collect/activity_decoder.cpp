// SPDX-License-Identifier: Apache-2.0
#include "guest/collect/activity_decoder.hpp"

#include "base/own_memory.hpp"
#include "guest/cupti/record_layouts.hpp"
#include "guest/nvtx/name_registry.hpp"

#include <string>
#include <utility>

namespace gpuprof::guest {
namespace {

constexpr std::size_t max_names_read = 1 << 16;
constexpr std::uint32_t max_api_ids = 1 << 14;  // CUDA 13.0 has about 800 in each domain

template <class Layout>
Layout const& as(CUpti_Activity const& record) noexcept {
  return reinterpret_cast<Layout const&>(record);
}

/// Returns 0 if the end is before the start or centuries later: no clock gave such times.
duration_ns length(std::uint64_t start, std::uint64_t end) noexcept {
  auto const ns = static_cast<std::int64_t>(end - start);
  return {end > start && ns > 0 ? ns : 0};
}

bool has_times(std::uint64_t start, std::uint64_t end) noexcept {
  return start != 0 && end != 0;
}

std::uint32_t unsigned_of(std::int32_t value) noexcept {
  return value > 0 ? static_cast<std::uint32_t>(value) : 0;
}

kernel_shape shape_of(layout::kernel const& k, name_id name) noexcept {
  kernel_shape s;
  s.name = name;
  s.grid = {unsigned_of(k.gridX), unsigned_of(k.gridY), unsigned_of(k.gridZ)};
  s.block = {unsigned_of(k.blockX), unsigned_of(k.blockY), unsigned_of(k.blockZ)};
  s.cluster = {k.clusterX, k.clusterY, k.clusterZ};
  s.registers_per_thread = k.registersPerThread;
  s.static_shared_bytes = unsigned_of(k.staticSharedMemory);
  s.dynamic_shared_bytes = unsigned_of(k.dynamicSharedMemory);
  s.local_bytes_per_thread = k.localMemoryPerThread;
  s.local_bytes_total = k.localMemoryTotal_v2;
  s.launch_type = k.launchType;
  s.max_active_clusters = k.maxActiveClusters;
  return s;
}

/// Fills all fields except the two devices of a peer copy.
template <class Layout>
copy_record copy_of(Layout const& c) noexcept {
  copy_record out;
  out.start = {c.start};
  out.duration = length(c.start, c.end);
  out.bytes = c.bytes;
  out.kind = static_cast<copy_kind>(c.copyKind);
  out.source_kind = static_cast<memory_kind>(c.srcKind);
  out.destination_kind = static_cast<memory_kind>(c.dstKind);
  out.asynchronous = (c.flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) != 0;
  out.device = static_cast<device_id>(c.deviceId);
  out.context = static_cast<context_id>(c.contextId);
  out.stream = static_cast<stream_id>(c.streamId);
  out.correlation = static_cast<correlation_id>(c.correlationId);
  out.graph = static_cast<graph_id>(c.graphId);
  out.node = static_cast<graph_node_id>(c.graphNodeId);
  return out;
}

// The number of copies that one record may stand for is limited, because each becomes a value in
// the reports.
constexpr std::uint64_t max_batch = 1 << 16;

std::uint32_t batch_of(layout::copy_12_8 const& c) noexcept {
  return c.copyCount > 1 ? static_cast<std::uint32_t>(std::min(c.copyCount, max_batch)) : 0;
}

}  // namespace

void activity_decoder::decode(std::span<std::uint8_t> buffer) {
  CUpti_Activity* record = nullptr;
  for (;;) {
    auto const code = cupti_.cuptiActivityGetNextRecord(buffer.data(), buffer.size(), &record);
    if (code == CUPTI_SUCCESS) {
      ++records_;
      one(*record);
    } else {
      if (code != CUPTI_ERROR_MAX_LIMIT_REACHED) ++losses_.broken_buffers;
      return;
    }
  }
}

void activity_decoder::one(CUpti_Activity const& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    case CUPTI_ACTIVITY_KIND_KERNEL:
      return kernel(record);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return graph(record);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return copy(record);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return peer_copy(record);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return set(record);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return api(record);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return sync(record);
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return memory(record);
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
      return unified_memory(record);
    default:
      ++losses_.unknown_kinds;
  }
}

shape_id activity_decoder::shape_for(shape_id known, name_id kernel, std::uint32_t arguments) {
  if (raw(known) == 0) return known;
  auto wanted = shapes_.at(known);
  auto const is_renamed = raw(kernel) != 0 && kernel != wanted.name;
  auto const had_geometry = wanted.has_geometry();
  if (is_renamed) wanted.name = kernel;
  if (arguments != 0 && had_geometry) wanted.arguments = arguments;
  // If the table is full, launches with other arguments keep their known shape. A shape with the
  // right name and no grid is still better than one with the wrong name.
  auto const shape = is_renamed ? shapes_.intern(wanted) : shapes_.intern_whole(wanted);
  if (raw(shape.id) == 0) return known;
  if (shape.is_new) sink_.shape(shapes_.at(shape.id));
  if (had_geometry && !shapes_.at(shape.id).has_geometry()) ++losses_.kernels_without_grid;
  return shape.id;
}

void activity_decoder::kernel(CUpti_Activity const& record) {
  auto const& k = as<layout::kernel>(record);
  if (!has_times(k.start, k.end)) {
    ++losses_.kernels_without_time;
    // The launch still counts: the sink gets the record without a time.
  }
  auto seen = shape_of(k, {});
  seen.name = name_of(seen, record);
  auto const shape = shapes_.intern(seen);
  if (shape.is_new) sink_.shape(shapes_.at(shape.id));
  if (raw(shape.id) == 0)
    ++losses_.kernels_without_shape;
  else if (seen.has_geometry() && !shapes_.at(shape.id).has_geometry())
    ++losses_.kernels_without_grid;
  kernel_record out;
  if (has_times(k.start, k.end)) {
    out.start = {k.start};
    out.duration = length(k.start, k.end);
  }
  out.shape = shape.id;
  out.device = static_cast<device_id>(k.deviceId);
  out.context = static_cast<context_id>(k.contextId);
  out.stream = static_cast<stream_id>(k.streamId);
  out.correlation = static_cast<correlation_id>(k.correlationId);
  out.graph = static_cast<graph_id>(k.graphId);
  out.node = static_cast<graph_node_id>(k.graphNodeId);
  sink_.kernel(out);
}

void activity_decoder::graph(CUpti_Activity const& record) {
  auto const& g = as<layout::graph>(record);
  if (!has_times(g.start, g.end)) {
    ++losses_.others_without_time;
    return;
  }
  graph_record out;
  out.start = {g.start};
  out.duration = length(g.start, g.end);
  out.graph = static_cast<graph_id>(g.graphId);
  out.device = static_cast<device_id>(g.deviceId);
  out.context = static_cast<context_id>(g.contextId);
  out.stream = static_cast<stream_id>(g.streamId);
  out.correlation = static_cast<correlation_id>(g.correlationId);
  sink_.graph(out);
}

void activity_decoder::copy(CUpti_Activity const& record) {
  auto const& c = as<layout::copy>(record);
  if (!has_times(c.start, c.end)) {
    ++losses_.others_without_time;
    return;
  }
  auto out = copy_of(c);
  out.source_device = out.destination_device = out.device;
  if (layout::has_copy_count(version_)) out.batch = batch_of(as<layout::copy_12_8>(record));
  sink_.copy(out);
}

void activity_decoder::peer_copy(CUpti_Activity const& record) {
  auto const& c = as<layout::peer_copy>(record);
  if (!has_times(c.start, c.end)) {
    ++losses_.others_without_time;
    return;
  }
  auto out = copy_of(c);
  out.source_device = static_cast<device_id>(c.srcDeviceId);
  out.destination_device = static_cast<device_id>(c.dstDeviceId);
  sink_.copy(out);
}

void activity_decoder::set(CUpti_Activity const& record) {
  auto const& m = as<layout::set>(record);
  if (!has_times(m.start, m.end)) {
    ++losses_.others_without_time;
    return;
  }
  memset_record out;
  out.start = {m.start};
  out.duration = length(m.start, m.end);
  out.bytes = m.bytes;
  out.value = m.value;
  out.kind = static_cast<memory_kind>(m.memoryKind);
  out.asynchronous = (m.flags & CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC) != 0;
  out.device = static_cast<device_id>(m.deviceId);
  out.context = static_cast<context_id>(m.contextId);
  out.stream = static_cast<stream_id>(m.streamId);
  out.correlation = static_cast<correlation_id>(m.correlationId);
  out.graph = static_cast<graph_id>(m.graphId);
  out.node = static_cast<graph_node_id>(m.graphNodeId);
  sink_.set(out);
}

void activity_decoder::api(CUpti_Activity const& record) {
  auto const& a = as<layout::api_call>(record);
  auto const driver = a.kind == CUPTI_ACTIVITY_KIND_DRIVER;
  api_record out;
  out.start = {a.start};
  out.duration = length(a.start, a.end);
  out.domain = driver ? api_domain::driver : api_domain::runtime;
  out.name = api_name(driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API, a.cbid);
  out.os_thread = a.threadId;
  out.correlation = static_cast<correlation_id>(a.correlationId);
  out.result = static_cast<std::int32_t>(a.returnValue);
  sink_.api(out);
}

void activity_decoder::sync(CUpti_Activity const& record) {
  auto const& s = as<layout::synchronization>(record);
  sync_record out;
  out.start = {s.start};
  out.duration = length(s.start, s.end);
  out.type = static_cast<std::uint8_t>(s.type);
  out.context = static_cast<context_id>(s.contextId);
  out.stream = static_cast<stream_id>(s.streamId);
  out.event = s.cudaEventId;
  out.correlation = static_cast<correlation_id>(s.correlationId);
  if (layout::has_sync_result(version_)) {
    out.result = static_cast<std::int32_t>(as<layout::synchronization_13>(record).returnValue);
  }
  sink_.sync(out);
}

void activity_decoder::memory(CUpti_Activity const& record) {
  auto const& m = as<layout::memory>(record);
  memory_record out;
  out.time = {m.timestamp};
  out.operation = static_cast<memory_operation>(m.memoryOperationType);
  out.kind = static_cast<memory_kind>(m.memoryKind);
  out.address = m.address;
  out.bytes = m.bytes;
  if (m.memoryPoolConfig.memoryPoolType != CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID) {
    out.pool_address = m.memoryPoolConfig.address;
  }
  out.device = static_cast<device_id>(m.deviceId);
  out.context = static_cast<context_id>(m.contextId);
  out.stream = static_cast<stream_id>(m.streamId);
  out.correlation = static_cast<correlation_id>(m.correlationId);
  out.asynchronous = m.isAsync != 0;
  sink_.memory(out);
}

void activity_decoder::unified_memory(CUpti_Activity const& record) {
  auto const& u = as<layout::unified_memory>(record);
  unified_memory_record out;
  out.start = {u.start};
  out.duration = length(u.start, u.end);
  out.counter = static_cast<std::uint32_t>(u.counterKind);
  out.value = u.value;
  out.address = u.address;
  out.source_device = static_cast<device_id>(u.srcId);
  out.destination_device = static_cast<device_id>(u.dstId);
  out.stream = static_cast<stream_id>(u.streamId);
  sink_.unified_memory(out);
}

// A kernel's name goes away with its module, and the record may be read later. So the name that the
// launch gave is used, and for a graph the name that was known when it was launched. But CUPTI's
// own kernel (one thread) has the correlation id of a launch of the program.
name_id activity_decoder::name_of(kernel_shape const& shape, CUpti_Activity const& record) {
  auto const& k = as<layout::kernel>(record);
  auto const is_of_graph = k.graphId != 0;
  auto const known = kernels_.known(k.name);
  if (raw(known) != 0 && !is_of_graph) return known;
  auto const* const launched =
      launches_.find(static_cast<correlation_id>(k.correlationId), timestamp_ns{k.start});
  auto const generation = launched == nullptr ? std::uint16_t{0} : launched->generation();
  auto const then = kernels_.known(k.name, generation);
  if (generation != 0 && raw(then) != 0) return then;
  if (raw(known) != 0) return known;
  if (launched == nullptr || raw(launched->kernel) == 0) return name_at(k.name);
  auto const is_one_thread = shape.grid == extent3{1, 1, 1} && shape.block == extent3{1, 1, 1};
  auto const is_of_cupti = is_one_thread && read_own_text(k.name, wait_kernel_of_cupti.size() +
                                                                      1) == wait_kernel_of_cupti;
  return is_of_cupti ? names_.intern(wait_kernel_of_cupti) : launched->kernel;
}

/// Returns the text that is at `pointer` now. It is not added to `kernels_`: the pointer may belong
/// to unloaded code.
name_id activity_decoder::name_at(char const* pointer) {
  auto const generation = kernels_.generation();
  if (std::exchange(read_in_, generation) != generation || names_read_.size() >= max_names_read)
    names_read_.clear();
  auto const [place, is_new] = names_read_.try_emplace(pointer);
  if (is_new) place->second = names_.intern(read_own_text(pointer, name_registry::max_text));
  return place->second;
}

name_id activity_decoder::api_name(CUpti_CallbackDomain domain, std::uint32_t cbid) {
  if (cbid >= max_api_ids) return names_.intern("API call " + std::to_string(cbid));
  auto& names = api_names_[domain == CUPTI_CB_DOMAIN_DRIVER_API ? 1 : 0];
  if (cbid >= names.size()) names.resize(cbid + 64);
  if (raw(names[cbid]) == 0) {
    char const* text = nullptr;
    if (cupti_.cuptiGetCallbackName(domain, cbid, &text) != CUPTI_SUCCESS) text = nullptr;
    auto const has_text = text != nullptr && *text != '\0';
    names[cbid] = names_.intern(has_text ? std::string(text) : "API call " + std::to_string(cbid));
  }
  return names[cbid];
}

void activity_decoder::report(ledger& to) const {
  to.add("lost.other_records_without_time", losses_.others_without_time);
  to.add("lost.broken_buffers", losses_.broken_buffers);
  to.add("lost.records_of_unknown_kind", losses_.unknown_kinds);
  to.add("lost.shapes", losses_.kernels_without_shape);
  to.add("lost.kernel_grids", losses_.kernels_without_grid);
}

}  // namespace gpuprof::guest
