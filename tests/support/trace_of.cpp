// SPDX-License-Identifier: Apache-2.0
#include "support/trace_of.hpp"

#include <algorithm>
#include <utility>

namespace gpuprof::test {
namespace {

template <class Change>
event changed(event made, Change change) {
  change(made);
  return made;
}

event happened(event_kind kind, std::string name, duration_ns start, duration_ns end) {
  event made;
  made.kind = kind;
  made.name = std::move(name);
  made.start = start;
  made.end = end;
  return made;
}

class trace_builder {
 public:
  explicit trace_builder(std::vector<event> events) : events_(std::move(events)) {
    std::stable_sort(events_.begin(), events_.end(),
                     [](event const& a, event const& b) { return a.start < b.start; });
  }

  trace build() {
    for (auto const& e : events_)
      if (e.kind == event_kind::range) add_range(e);
    for (auto const& e : events_)
      if (e.kind != event_kind::range) add_work(e);
    for (auto const& e : events_) made_.last = std::max(made_.last, trace_start + e.end);
    return std::move(made_);
  }

 private:
  struct open_range {
    event const* what;
    range_id id;
    std::uint16_t level;
  };

  open_range const* innermost(std::uint32_t thread, duration_ns at) const {
    open_range const* found = nullptr;
    for (auto const& open : stack_) {
      auto const& e = *open.what;
      if (e.style != range_style::push_pop || e.thread != thread) continue;
      if (e.start <= at && (e.never_ends || at < e.end)) found = &open;
    }
    return found;
  }

  void add_range(event const& e) {
    auto const id = static_cast<range_id>((std::uint64_t{e.thread} << 40) + stack_.size() + 1);
    auto const* const around = innermost(e.thread, e.start);
    auto const level = static_cast<std::uint16_t>(
        around != nullptr && e.style == range_style::push_pop ? around->level + 1 : 0);
    made_.begins.push_back({.time = trace_start + e.start,
                            .range = id,
                            .parent = around != nullptr ? around->id : range_id{},
                            .thread = static_cast<thread_index>(e.thread),
                            .style = e.style,
                            .level = level,
                            .name = made_.names.intern(e.name),
                            .domain = made_.names.intern(e.domain_name)});
    if (!e.never_ends)
      made_.ends.push_back({trace_start + e.end, id, static_cast<thread_index>(e.thread)});
    stack_.push_back({&e, id, level});
  }

  template <class Record>
  Record launched(event const& e) {
    auto const at = e.launch.value < 0 ? e.start : e.launch;
    auto const* const around = innermost(e.thread, at);
    Record record{};
    record.start = trace_start + e.start;
    record.duration = e.end - e.start;
    record.launched = trace_start + at;
    record.context = static_cast<context_id>(1);
    record.stream = static_cast<stream_id>(7);
    record.correlation = static_cast<correlation_id>(
        e.correlation_number != 0 ? e.correlation_number : ++correlation_);
    record.thread = static_cast<thread_index>(e.thread);
    record.range = around != nullptr ? around->id : range_id{};
    return record;
  }

  shape_id shape_of(event const& e) {
    kernel_shape shape;
    shape.name = made_.names.intern(e.name);
    shape.grid = e.grid_size;
    shape.block = e.block_size;
    shape.registers_per_thread = 32;
    shape.static_shared_bytes = 1024;
    for (auto const& known : made_.shapes) {
      shape.id = known.id;
      if (shape == known) return known.id;
    }
    shape.id = static_cast<shape_id>(made_.shapes.size() + 1);
    made_.shapes.push_back(shape);
    return shape.id;
  }

  void add_work(event const& e) {
    switch (e.kind) {
      case event_kind::kernel: {
        auto record = launched<kernel_record>(e);
        record.shape = shape_of(e);
        made_.kernels.push_back(record);
        break;
      }
      case event_kind::copy: {
        auto record = launched<copy_record>(e);
        record.bytes = e.byte_count;
        record.kind = e.direction;
        record.source_kind = memory_kind::pinned;
        record.destination_kind = memory_kind::device;
        made_.copies.push_back(record);
        break;
      }
      case event_kind::fill: {
        auto record = launched<memset_record>(e);
        record.bytes = e.byte_count;
        record.kind = memory_kind::device;
        made_.fills.push_back(record);
        break;
      }
      case event_kind::graph:
        made_.graphs.push_back(launched<graph_record>(e));
        made_.graphs.back().graph = static_cast<graph_id>(3);
        break;
      case event_kind::call:
        made_.calls.push_back({.start = trace_start + e.start,
                               .duration = e.end - e.start,
                               .domain = e.api,
                               .name = made_.names.intern(e.name),
                               .os_thread = 4000 + e.thread,
                               .correlation = static_cast<correlation_id>(e.correlation_number)});
        break;
      case event_kind::range:
        break;
    }
  }

  std::vector<event> events_;
  std::vector<open_range> stack_;
  std::uint32_t correlation_ = 0;
  trace made_;
};

}  // namespace

std::string numbered(std::string name, int number) {
  name.append(std::to_string(number));
  return name;
}

event event::launched_at(duration_ns at) const {
  return changed(*this, [&](event& e) { e.launch = at; });
}
event event::on_thread(std::uint32_t number) const {
  return changed(*this, [&](event& e) { e.thread = number; });
}
event event::in_domain(std::string d) const {
  return changed(*this, [&](event& e) { e.domain_name = std::move(d); });
}
event event::start_end() const {
  return changed(*this, [](event& e) { e.style = range_style::start_end; });
}
event event::left_open() const {
  return changed(*this, [](event& e) { e.never_ends = true; });
}
event event::shaped(extent3 grid, extent3 block) const {
  return changed(*this, [&](event& e) { e.grid_size = grid, e.block_size = block; });
}
event event::correlated(std::uint32_t number) const {
  return changed(*this, [&](event& e) { e.correlation_number = number; });
}
event event::of_driver() const {
  return changed(*this, [](event& e) { e.api = api_domain::driver; });
}

event range(std::string name, duration_ns start, duration_ns end) {
  return happened(event_kind::range, std::move(name), start, end);
}
event kernel(std::string name, duration_ns start, duration_ns end) {
  return happened(event_kind::kernel, std::move(name), start, end);
}
event copy(copy_kind direction, std::uint64_t bytes, duration_ns start, duration_ns end) {
  auto made = happened(event_kind::copy, "", start, end);
  made.direction = direction;
  made.byte_count = bytes;
  return made;
}
event fill(std::uint64_t bytes, duration_ns start, duration_ns end) {
  auto made = happened(event_kind::fill, "", start, end);
  made.byte_count = bytes;
  return made;
}
event graph(duration_ns start, duration_ns end) {
  return happened(event_kind::graph, "", start, end);
}
event call(std::string function, duration_ns start, duration_ns end) {
  return happened(event_kind::call, std::move(function), start, end);
}

std::function<std::string_view(name_id)> trace::text() const {
  return [this](name_id id) { return names.text(id); };
}
range_id trace::id_of(std::string_view name, std::size_t n) const {
  for (auto const& begin : begins)
    if (names.text(begin.name) == name && n-- == 0) return begin.range;
  return {};
}

trace trace_of(std::vector<event> events) {
  return trace_builder(std::move(events)).build();
}

}  // namespace gpuprof::test
