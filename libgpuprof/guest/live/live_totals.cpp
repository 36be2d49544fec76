// SPDX-License-Identifier: Apache-2.0
#include "guest/live/live_totals.hpp"

#include "model/gpu_work.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

namespace gpuprof::guest {

namespace {

constexpr std::uint64_t no_key = ~std::uint64_t{0};
constexpr std::size_t max_shapes = 1u << 20;

std::size_t mix(std::uint64_t key) noexcept {
  return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15u) >> 32);
}

}  // namespace

live_totals::live_totals(std::function<std::string_view(name_id)> text, capacity limits)
    : text_(std::move(text)),
      limits_(limits),
      recent_(limits.recent_ranges, limits.recent_start_end) {
  auto const names = limits_.names + 1;
  kernels_.reserve(names);
  ranges_.reserve(names);
  last_given_.reserve(names);
  kernels_.push_back({.name = "(other)"});
  ranges_.push_back({.name = "(other)"});
  last_given_.push_back(0);
  for (std::size_t i = 0; i < copies_.size(); ++i)
    copies_[i] = {.kind = static_cast<copy_kind>(i % 11), .is_fill = i == 11};
  kernel_index_.resize(std::bit_ceil(limits_.names * 2 + 2));
  range_index_.resize(std::bit_ceil(limits_.names * 2 + 2));
}

void live_totals::clear() {
  std::scoped_lock const lock(mutex_);
  for (auto& row : kernels_) row = {.name = std::move(row.name)};
  for (auto& row : ranges_) row = {.name = std::move(row.name)};
  for (auto& row : copies_) row = {.kind = row.kind, .is_fill = row.is_fill};
  kernel_count_ = kernel_ns_ = graph_count_ = graph_ns_ = without_range_ = 0;
}

/// Returns the slot of a key, or 0 if there is no room left. If `is_new` is set, the caller must
/// append a row.
live_totals::slot live_totals::slot_of(std::vector<name_slot>& index, std::uint64_t key,
                                       std::size_t used, bool& is_new) {
  auto const mask = index.size() - 1;
  auto at = mix(key) & mask;
  for (; index[at].key != no_key; at = (at + 1) & mask)
    if (index[at].key == key) return index[at].to;
  if (used > limits_.names) return 0;
  is_new = true;
  index[at] = {key, static_cast<slot>(used)};
  return index[at].to;
}

void live_totals::add(kernel_shape const& shape) {
  std::scoped_lock const lock(mutex_);
  auto const id = raw(shape.id);
  if (id >= max_shapes) return;  // its kernels count as "(other)"
  if (id >= slot_of_shape_.size()) slot_of_shape_.resize(id + 1, 0);
  bool is_new = false;
  slot_of_shape_[id] = slot_of(kernel_index_, raw(shape.name), kernels_.size(), is_new);
  if (!is_new) return;
  kernels_.emplace_back();  // memory is reserved; only the name can fail to allocate
  kernels_.back().name = text_(shape.name);
}

void live_totals::add(std::span<kernel_record const> kernels) {
  std::scoped_lock const lock(mutex_);
  for (auto const& kernel : kernels) {
    auto const shape = raw(kernel.shape);
    auto& row = kernels_[shape < slot_of_shape_.size() ? slot_of_shape_[shape] : 0];
    auto const length = nanoseconds(kernel.duration);
    row.minimum_ns = row.count == 0 ? length : std::min(row.minimum_ns, length);
    row.maximum_ns = std::max(row.maximum_ns, length);
    row.total_ns += length;
    ++row.count;
    ++kernel_count_;
    kernel_ns_ += length;
    count_gpu_time(kernel.range, kernel.launched, kernel.duration);
  }
}

void live_totals::add(graph_record const& graph) {
  std::scoped_lock const lock(mutex_);
  ++graph_count_;
  graph_ns_ += nanoseconds(graph.duration);
  count_gpu_time(graph.range, graph.launched, graph.duration);
}

void live_totals::add(copy_record const& copy) {
  std::scoped_lock const lock(mutex_);
  auto const kind = static_cast<std::size_t>(copy.kind);
  auto& row = copies_[kind < 11 ? kind : 0];
  row.count += copy.copies();
  row.bytes += copy.bytes;
  row.total_ns += nanoseconds(copy.duration);
  count_gpu_time(copy.range, copy.launched, copy.duration);
}

void live_totals::add(memset_record const& fill) {
  std::scoped_lock const lock(mutex_);
  auto& row = copies_[11];
  ++row.count;
  row.bytes += fill.bytes;
  row.total_ns += nanoseconds(fill.duration);
  count_gpu_time(fill.range, fill.launched, fill.duration);
}

void live_totals::add(range_begin const& begin) {
  std::scoped_lock const lock(mutex_);
  auto const key = static_cast<std::uint64_t>(raw(begin.domain)) << 32 | raw(begin.name);
  bool is_new = false;
  auto const name = slot_of(range_index_, key, ranges_.size(), is_new);
  if (is_new) {
    ranges_.emplace_back();  // memory is reserved; only the name can fail to allocate
    last_given_.push_back(0);
    auto& name_of_row = ranges_.back().name;
    name_of_row = text_(begin.domain);
    if (!name_of_row.empty()) name_of_row += ':';
    name_of_row += text_(begin.name);
  }
  recent_.begin(begin, name);
}

void live_totals::add(range_end const& end) {
  std::scoped_lock const lock(mutex_);
  auto const* const range = recent_.end(end);
  if (range == nullptr) {  // began before the totals did, or too long ago
    ++ranges_[0].count;
    return;
  }
  auto& row = ranges_[range->label];
  ++row.count;
  if (end.time > range->begin) row.cpu_ns += nanoseconds(end.time - range->begin);
}

/// Adds one operation to every range name around it. Nested ranges of the same name count it once.
void live_totals::count_gpu_time(range_id innermost, timestamp_ns launched, duration_ns duration) {
  ++operation_;
  auto const length = nanoseconds(duration);
  auto const give_length = [&](recent_range const& range) { give(range, length); };
  if (!recent_.each_around(innermost, give_length)) ++without_range_;
  recent_.each_open_at(launched, give_length);
}

void live_totals::give(recent_range const& range, std::uint64_t length) {
  if (last_given_[range.label] == operation_) return;
  last_given_[range.label] = operation_;
  ranges_[range.label].gpu_ns += length;
  ++ranges_[range.label].gpu_operations;
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
