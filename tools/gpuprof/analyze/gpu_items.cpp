// SPDX-License-Identifier: Apache-2.0
#include "analyze/gpu_items.hpp"

#include "collective_kernels.hpp"
#include "host/advice/facts.hpp"

namespace gpuprof::host::command {

gpu_items::gpu_items(trace_contents& trace)
    : launched_(trace.launched(range_scope::process)), collectives_(find_collectives(trace)) {}

template <class Record>
gpu_item gpu_items::common(Record const& record) const {
  return {.start = record.start,
          .end = record.start + record.duration,
          .launched = record.launched,
          .device = record.device,
          .stream = record.stream,
          .context = record.context,
          .thread = record.thread,
          .kind = item_kind::compute,
          .range = launched_.innermost(record),
          .correlation = record.correlation};
}

gpu_item gpu_items::of(kernel_record const& kernel) const {
  auto item = common(kernel);
  item.subject = raw(kernel.shape) <= largest_shape ? raw(kernel.shape) : 0;
  item.of_graph = raw(kernel.graph) != 0;
  if (is_collective(item.subject)) item.kind = item_kind::communication;
  return item;
}

gpu_item gpu_items::of(graph_record const& graph) const {
  auto item = common(graph);  // has no shape
  item.of_graph = true;
  return item;
}

gpu_item gpu_items::of(copy_record const& copy) const {
  auto item = common(copy);
  item.is_copy = true;
  item.kind = copy.kind == copy_kind::peer_to_peer ? item_kind::communication : item_kind::transfer;
  return item;
}

gpu_item gpu_items::of(memset_record const& fill) const {
  auto item = common(fill);
  item.is_copy = true;
  item.kind = item_kind::transfer;
  return item;
}

/// 0: not known.
bool is_small(std::uint64_t bytes) noexcept {
  return bytes != 0 && bytes < advice::small_copy_bytes;
}

transfer_key key_of(copy_record const& copy) noexcept {
  return {.kind = copy.kind,
          .source = copy.source_kind,
          .destination = copy.destination_kind,
          .asynchronous = copy.asynchronous,
          .is_small = is_small(copy.bytes),
          .device = copy.device};
}

transfer_key key_of(memset_record const& fill) noexcept {
  return {.destination = fill.kind,
          .is_fill = true,
          .asynchronous = fill.asynchronous,
          .is_small = is_small(fill.bytes),
          .device = fill.device};
}

}  // namespace gpuprof::host::command
