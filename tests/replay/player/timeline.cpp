// SPDX-License-Identifier: Apache-2.0
#include "replay/player/timeline.hpp"

#include "replay/format/record_fields.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace gpuprof::replay {
namespace {

struct call_place {
  std::uint32_t thread = 0;
  std::uint64_t entered = 0, left = 0;
  event const* exit = nullptr;
};

/// The recorded driver calls by correlation id.
using calls = std::unordered_map<std::uint32_t, call_place>;

calls find_calls(recording const& r) {
  calls found;
  for (auto const& e : r.events) {
    if (e.kind != event_kind::call) continue;
    auto& c = found[e.correlation];
    c.thread = e.thread;
    if (e.site == CUPTI_API_ENTER) {
      c.entered = e.time;
    } else {
      c.left = e.time;
      c.exit = &e;
    }
  }
  std::erase_if(found, [](auto const& c) { return c.second.exit == nullptr; });
  return found;
}

std::vector<std::size_t> offsets_of(record_stream const& records) {
  std::vector<std::size_t> offsets;
  std::size_t at = 0;
  for (auto const size : records.sizes) {
    offsets.push_back(at);
    at += size;
  }
  return offsets;
}

void add_graph_records(recording& r) {
  struct span_of_nodes {
    std::uint64_t start = ~std::uint64_t{0}, end = 0;
    CUpti_ActivityGraphTrace2 record{};
    bool has_its_own = false;
  };
  std::map<std::uint32_t, span_of_nodes> launches;  // by correlation id
  auto const offsets = offsets_of(r.records);
  for (auto const offset : offsets) {
    auto const* const bytes = r.records.bytes.data() + offset;
    auto const& fields = *fields_of(kind_of_record(bytes));
    auto const graph = get_field<std::uint32_t>(bytes, fields.graph);
    if (!fields.on_gpu || graph == 0) continue;
    auto& launch = launches[get_field<std::uint32_t>(bytes, fields.correlation)];
    if (fields.kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE) {
      launch.has_its_own = true;
      continue;
    }
    launch.start = std::min(launch.start, get_field<std::uint64_t>(bytes, fields.start));
    launch.end = std::max(launch.end, get_field<std::uint64_t>(bytes, fields.end));
    launch.record.graphId = graph;
    launch.record.contextId = get_field<std::uint32_t>(bytes, fields.context);
    launch.record.streamId = get_field<std::uint32_t>(bytes, fields.stream);
  }
  for (auto& [correlation, launch] : launches) {
    if (launch.has_its_own || launch.start == 0 || launch.start >= launch.end) continue;
    launch.record.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
    launch.record.correlationId = correlation;
    launch.record.start = launch.start;
    launch.record.end = launch.end;
    launch.record.endContextId = launch.record.contextId;
    r.records.add(std::as_bytes(std::span(&launch.record, 1)));
  }
}

/// The thread of a record that has no recorded call: that of the API record with the same id.
class thread_finder {
 public:
  explicit thread_finder(recording const& r, std::vector<std::size_t> const& offsets) {
    for (std::uint32_t i = 0; i < r.threads.size(); ++i) by_os_thread_[r.threads[i].os_thread] = i;
    for (auto const offset : offsets) {
      auto const* const bytes = r.records.bytes.data() + offset;
      auto const& fields = *fields_of(kind_of_record(bytes));
      if (fields.thread == 0) continue;
      auto const found = by_os_thread_.find(get_field<std::uint32_t>(bytes, fields.thread));
      if (found == by_os_thread_.end()) continue;
      by_correlation_[get_field<std::uint32_t>(bytes, fields.correlation)] = found->second;
    }
  }
  std::uint32_t of(std::uint32_t correlation) const {
    auto const found = by_correlation_.find(correlation);
    return found != by_correlation_.end() ? found->second : 0;
  }

 private:
  std::unordered_map<std::uint32_t, std::uint32_t> by_os_thread_, by_correlation_;
};

}  // namespace

timeline make_timeline(recording& r) {
  add_graph_records(r);
  timeline t;
  t.record_offset = offsets_of(r.records);
  t.threads.resize(std::max<std::size_t>(r.threads.size(), 1));
  auto const found = find_calls(r);
  thread_finder const threads(r, t.record_offset);

  std::unordered_map<event const*, std::vector<std::size_t>> caused;
  for (std::size_t i = 0; i < r.records.count(); ++i) {
    auto const* const bytes = r.records.bytes.data() + t.record_offset[i];
    auto const& fields = *fields_of(kind_of_record(bytes));
    auto const correlation = get_field<std::uint32_t>(bytes, fields.correlation);
    t.max_correlation = std::max(t.max_correlation, correlation);
    auto const call = found.find(correlation);
    if (fields.on_gpu && call != found.end()) {
      caused[call->second.exit].push_back(i);
    } else {
      auto const time = get_field<std::uint64_t>(bytes, fields.end);
      t.threads[threads.of(correlation)].push_back({.time = time, .records = {i}});
    }
  }
  for (auto const& e : r.events) {
    action a{.time = e.time, .what = &e};
    if (e.kind == event_kind::call) t.max_correlation = std::max(t.max_correlation, e.correlation);
    if (auto const it = caused.find(&e); it != caused.end()) {
      a.records = std::move(it->second);
      a.entered = found.at(e.correlation).entered;
    }
    t.threads[e.thread].push_back(std::move(a));
  }

  t.begin = ~std::uint64_t{0};
  for (auto& actions : t.threads) {
    // A loose record without times has no place in the order: it is left out.
    std::erase_if(actions, [](action const& a) { return a.time == 0; });
    std::stable_sort(actions.begin(), actions.end(),
                     [](action const& a, action const& b) { return a.time < b.time; });
    if (actions.empty()) continue;
    t.begin = std::min(t.begin, actions.front().time);
    t.end = std::max(t.end, actions.back().time);
  }
  if (t.begin > t.end) t.begin = t.end;
  return t;
}

}  // namespace gpuprof::replay
