// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/gpu_trace.hpp"

#include "host/analysis/samples.hpp"

#include <algorithm>
#include <numeric>

namespace gpuprof::host {

template <class Record>
gpu_operation& gpu_trace::append(Record const& record, gpu_work work) {
  if (size_ % chunk_size == 0) chunks_.push_back(std::make_unique<chunk>());
  auto& operation = (*chunks_.back())[size_++ % chunk_size];
  operation.start = record.start.value;
  operation.duration = nanoseconds(record.duration);
  operation.correlation = raw(record.correlation);
  operation.device = raw(record.device);
  operation.context = raw(record.context);
  operation.stream = raw(record.stream);
  operation.work = work;
  turn const now{operation.start, work};
  in_order_as_added_ = in_order_as_added_ && now >= latest_;
  latest_ = std::max(latest_, now);
  return operation;
}

void gpu_trace::add(kernel_record const& kernel) {
  append(kernel, gpu_work::kernel).what = raw(kernel.shape);
}

void gpu_trace::add(copy_record const& copy) {
  auto& operation = append(copy, gpu_work::copy);
  operation.bytes = copy.bytes;
  operation.kind = copy.kind;
  operation.source = copy.source_kind;
  operation.destination = copy.destination_kind;
}

void gpu_trace::add(memset_record const& fill) {
  auto& operation = append(fill, gpu_work::fill);
  operation.bytes = fill.bytes;
  operation.source = fill.kind;  // nsys shows the memory kind of a fill as its source
}

void gpu_trace::add(graph_record const& graph) {
  append(graph, gpu_work::graph).what = raw(graph.graph);
}

std::vector<std::uint32_t> gpu_trace::order_of_start() const {
  std::vector<std::uint32_t> order(size_);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return turn{at(a).start, at(a).work} < turn{at(b).start, at(b).work};
  });
  return order;
}

}  // namespace gpuprof::host
