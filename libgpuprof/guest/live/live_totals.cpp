// SPDX-License-Identifier: Apache-2.0
#include "guest/live/live_totals.hpp"

#include "model/gpu_work.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace gpuprof::guest {
namespace {

constexpr std::size_t max_shapes = 1u << 20;

/// A whole graph as a launch of its own.
kernel_record as_launch(graph_record const& graph) noexcept {
  kernel_record launch;
  launch.device = graph.device;
  launch.duration = graph.duration;
  launch.launched = graph.launched;
  launch.correlation = graph.correlation;
  launch.range = graph.range;
  launch.graph = graph.graph;
  return launch;
}

}  // namespace

live_totals::live_totals(std::function<std::string_view(name_id)> text, capacity limits)
    : text_(std::move(text)),
      kernel_numbers_(limits.names),
      range_numbers_(limits.names),
      recent_(limits.recent_ranges, limits.recent_start_end),
      workloads_(limits.workloads
                     ? std::make_unique<workload_tallies>(limits.names + 1, *limits.workloads)
                     : nullptr) {
  auto const names = limits.names + 1;
  kernels_.reserve(names);
  ranges_.reserve(names);
  last_given_.reserve(names);
  kernels_.push_back({.name = "(other)"});
  ranges_.push_back({.name = "(other)"});
  last_given_.push_back(0);
  for (std::size_t i = 0; i < copies_.size(); ++i)
    copies_[i] = {.kind = static_cast<copy_kind>(i % 11), .is_fill = i == 11};
}

/// 0 where there is no room left.
template <class Row, class NameOf>
std::uint32_t live_totals::row_of(key_numbers& numbers, std::uint64_t key, std::vector<Row>& rows,
                                  NameOf name_of) {
  auto const found = numbers.number_of(key);
  if (!found.is_new) return found.number;
  rows.emplace_back();  // reserved; only its name may find no memory
  rows.back().name = name_of();
  return found.number;
}

void live_totals::add(kernel_shape const& shape) {
  std::scoped_lock const lock(mutex_);
  auto const id = raw(shape.id);
  if (id >= max_shapes) return;  // its kernels count as "(other)"
  if (id >= row_of_shape_.size()) row_of_shape_.resize(id + 1, 0);
  row_of_shape_[id] =
      row_of(kernel_numbers_, raw(shape.name), kernels_, [&] { return text_(shape.name); });
}

std::uint32_t live_totals::kernel_row(shape_id shape) const noexcept {
  return raw(shape) < row_of_shape_.size() ? row_of_shape_[raw(shape)] : 0;
}

void live_totals::add(std::span<kernel_record const> kernels) {
  std::scoped_lock const lock(mutex_);
  for (auto const& kernel : kernels) {
    auto& row = kernels_[kernel_row(kernel.shape)];
    auto const length = nanoseconds(kernel.duration);
    row.minimum_ns = row.count == 0 ? length : std::min(row.minimum_ns, length);
    row.maximum_ns = std::max(row.maximum_ns, length);
    row.total_ns += length;
    ++row.count;
    ++kernel_count_;
    kernel_ns_ += length;
    if (workloads_ != nullptr) count_workload(kernel, workloads_->counts_as_one(kernel));
    count_gpu_time(kernel.range, kernel.launched, kernel.duration, true);
  }
}

/// Its ranges follow in count_gpu_time().
void live_totals::count_workload(kernel_record const& kernel, bool is_graph) {
  workloads_->begin(kernel, is_graph, kernel_row(kernel.shape));
  if (!workloads_->any_declares()) return;
  bool is_given = false;
  recent_.each_around(kernel.range, [&](recent_range const& range) {
    is_given = is_given || workloads_->add_to_declaring(range.id, kernel.duration);
  });
}

void live_totals::add(graph_record const& graph) {
  std::scoped_lock const lock(mutex_);
  ++graph_count_;
  graph_ns_ += nanoseconds(graph.duration);
  if (workloads_ != nullptr) count_workload(as_launch(graph), true);
  count_gpu_time(graph.range, graph.launched, graph.duration, true);
}

void live_totals::add(copy_record const& copy) {
  std::scoped_lock const lock(mutex_);
  auto const kind = static_cast<std::size_t>(copy.kind);
  auto& row = copies_[kind < 11 ? kind : 0];
  row.count += copy.copies();
  row.bytes += copy.bytes;
  row.total_ns += nanoseconds(copy.duration);
  count_gpu_time(copy.range, copy.launched, copy.duration, false);
}

void live_totals::add(memset_record const& fill) {
  std::scoped_lock const lock(mutex_);
  auto& row = copies_[11];
  ++row.count;
  row.bytes += fill.bytes;
  row.total_ns += nanoseconds(fill.duration);
  count_gpu_time(fill.range, fill.launched, fill.duration, false);
}

void live_totals::add(range_begin const& begin) {
  std::scoped_lock const lock(mutex_);
  auto const key = static_cast<std::uint64_t>(raw(begin.domain)) << 32 | raw(begin.name);
  auto const row = row_of(range_numbers_, key, ranges_, [&] {
    auto name = std::string(text_(begin.domain));
    if (!name.empty()) name += ':';
    return name += text_(begin.name);
  });
  last_given_.resize(ranges_.size());  // reserved
  recent_.begin(begin, row);
  if (workloads_ == nullptr || !(begin.declared_flops > 0)) return;
  std::vector<std::uint32_t> around;
  each_name_around(begin.range, {}, [&](std::uint32_t name) { around.push_back(name); });
  workloads_->declare(begin.range, begin.declared_flops, std::move(around));
}

void live_totals::add(range_end const& end) {
  std::scoped_lock const lock(mutex_);
  if (workloads_ != nullptr) workloads_->end_range(end.range, end.time);
  auto const* const range = recent_.end(end);
  if (range == nullptr) {  // began before the totals did, or too long ago
    ++ranges_[0].count;
    return;
  }
  auto& row = ranges_[range->label];
  ++row.count;
  if (end.time > range->begin) row.cpu_ns += nanoseconds(end.time - range->begin);
}

template <class F>
bool live_totals::each_name_around(range_id innermost, timestamp_ns launched, F f) {
  ++operation_;
  auto const once = [&](recent_range const& range) {
    if (std::exchange(last_given_[range.label], operation_) != operation_) f(range.label);
  };
  auto const is_known = recent_.each_around(innermost, once);
  recent_.each_open_at(launched, once);
  return is_known;
}

void live_totals::count_gpu_time(range_id innermost, timestamp_ns launched, duration_ns duration,
                                 bool is_launch) {
  auto const length = nanoseconds(duration);
  auto* const workloads = is_launch ? workloads_.get() : nullptr;
  auto const is_known = each_name_around(innermost, launched, [&](std::uint32_t row) {
    ranges_[row].gpu_ns += length;
    ++ranges_[row].gpu_operations;
    if (workloads != nullptr) workloads->add_in(row);
  });
  if (!is_known) ++without_range_;
}

void live_totals::count_as_one(device_id device, graph_id graph) {
  std::scoped_lock const lock(mutex_);
  workloads_->count_as_one(device, graph);
}

bool live_totals::counts_as_one(kernel_record const& kernel) noexcept {
  std::scoped_lock const lock(mutex_);
  return workloads_->counts_as_one(kernel);
}

void live_totals::note_read(kernel_record const& kernel, bool is_graph, std::uint64_t ns,
                            bool is_slowed) {
  std::scoped_lock const lock(mutex_);
  if (!workloads_->begin_read(kernel, is_graph, ns, is_slowed)) return;
  each_name_around(kernel.range, kernel.launched,
                   [&](std::uint32_t row) { workloads_->add_in(row); });
}

void live_totals::settle(timestamp_ns complete_until) {
  std::scoped_lock const lock(mutex_);
  workloads_->settle(complete_until);
}

workload_snapshot live_totals::workloads() const {
  workload_snapshot out;
  std::scoped_lock const lock(mutex_);
  out.sums = workloads_->sums();
  for (auto const& kernel : kernels_) out.kernel_names.push_back(kernel.name);
  for (auto const& range : ranges_) out.range_names.push_back(range.name);
  return out;
}

live_snapshot live_totals::snapshot() const {
  live_snapshot out;
  {
    std::scoped_lock const lock(mutex_);
    out.kernels = kernels_;
    out.ranges = ranges_;
    out.copies.assign(copies_.begin(), copies_.end());
    out.kernel_count = kernel_count_;
    out.kernel_ns = kernel_ns_;
    out.graph_count = graph_count_;
    out.graph_ns = graph_ns_;
    out.without_range = without_range_;
  }
  std::erase_if(out.kernels, [](live_kernel const& k) { return k.count == 0; });
  std::erase_if(out.copies, [](live_copy const& c) { return c.count == 0; });
  std::erase_if(out.ranges,
                [](live_range const& r) { return r.count == 0 && r.gpu_operations == 0; });
  std::stable_sort(out.kernels.begin(), out.kernels.end(),
                   [](auto const& a, auto const& b) { return a.total_ns > b.total_ns; });
  std::stable_sort(out.copies.begin(), out.copies.end(),
                   [](auto const& a, auto const& b) { return a.total_ns > b.total_ns; });
  std::stable_sort(out.ranges.begin(), out.ranges.end(), [](auto const& a, auto const& b) {
    return std::tie(a.gpu_ns, a.cpu_ns) > std::tie(b.gpu_ns, b.cpu_ns);
  });
  return out;
}

}  // namespace gpuprof::guest
