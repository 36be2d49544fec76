// SPDX-License-Identifier: Apache-2.0
#include "guest/live/recent_ranges.hpp"
#include "host/analysis/launch_ranges.hpp"
#include "support/catch.hpp"
#include "support/trace_of.hpp"

#include <algorithm>
#include <map>
#include <random>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::host;
using namespace gpuprof::test;

namespace {

/// As they come from the rings: each thread's in order of time, one thread after the other.
void feed(recent_open_ranges& to, trace const& t) {
  struct change {
    timestamp_ns time;
    range_begin const* begin = nullptr;
    range_end const* end = nullptr;
  };
  std::map<thread_index, std::vector<change>> by_thread;
  for (auto const& begin : t.begins)
    by_thread[begin.thread].push_back({begin.time, &begin, nullptr});
  for (auto const& end : t.ends) by_thread[end.thread].push_back({end.time, nullptr, &end});
  for (auto& [thread, changes] : by_thread) {
    std::stable_sort(changes.begin(), changes.end(),
                     [](change const& a, change const& b) { return a.time < b.time; });
    for (auto const& change : changes)
      change.begin != nullptr ? to.begin(*change.begin) : to.end(*change.end);
  }
}

}  // namespace

TEST_CASE("recent launches count in the same ranges as in the report") {
  std::mt19937 random(1);
  auto const us = [&](int below) {
    return duration_ns{1000 * static_cast<int>(random() % static_cast<unsigned>(below))};
  };
  std::vector<event> events;
  for (std::uint32_t thread = 1; thread <= 3; ++thread) {
    auto now = us(50) + duration_ns{static_cast<int>(thread)};  // no two begin at once
    for (int i = 0; i < 40; ++i) {
      auto const inner = now + 1_us + us(9), inner_end = inner + 1_us + us(9);
      auto const end = inner_end + 1_us + us(9);
      events.push_back(range(numbered("outer", i), now, end).on_thread(thread));
      events.push_back(range(numbered("inner", i), inner, inner_end).on_thread(thread));
      now = end + 1_us + us(20);
    }
  }
  for (int i = 0; i < 400; ++i)
    events.push_back(kernel("k", 2000_us, 2001_us).launched_at(us(1500) + 500_ns).on_thread(9));
  auto const t = trace_of(events);
  range_tree const tree(t.begins, t.ends, t.last);
  for (std::uint32_t const main : {0, 2}) {
    launch_ranges const launched(tree, range_scope::process, static_cast<thread_index>(main));
    recent_open_ranges recent;
    recent.main_thread_is(static_cast<thread_index>(main));
    feed(recent, t);
    std::size_t inside = 0;
    for (auto const& kernel : t.kernels) {
      auto const range = launched.innermost(kernel);
      CHECK(recent.innermost(kernel.launched) == (range == no_range ? range_id{} : tree[range].id));
      inside += range != no_range;
    }
    CHECK(inside > 200);
    CHECK(inside < 400);
  }
}

TEST_CASE("a time before the recent ranges has no range") {
  auto const t =
      trace_of({range("a", 0_us, 10_us), range("b", 20_us, 30_us), range("c", 40_us, 50_us)});
  recent_open_ranges recent({1, 3});
  feed(recent, t);
  CHECK(recent.innermost(trace_start + 45_us) == t.id_of("c"));
  CHECK(recent.innermost(trace_start + 35_us) == range_id{});
  CHECK(recent.innermost(trace_start + 25_us) == range_id{});
}

TEST_CASE("the main thread is followed if more threads have ranges than can be followed") {
  auto const t =
      trace_of({range("a", 0_us, 90_us).on_thread(2), range("b", 10_us, 90_us).on_thread(3),
                range("step", 20_us, 90_us).on_thread(4)});
  recent_open_ranges recent({1, 16});
  recent.main_thread_is(static_cast<thread_index>(4));
  feed(recent, t);
  CHECK(recent.innermost(trace_start + 15_us) == t.id_of("a"));
  CHECK(recent.innermost(trace_start + 25_us) == t.id_of("step"));
}

TEST_CASE("a range without an end is closed when a range begins outside it") {
  auto t = trace_of({range("lost", 0_us, 0_us).left_open(), range("a", 20_us, 30_us)});
  t.begins[1].parent = {};
  recent_open_ranges recent;
  feed(recent, t);
  CHECK(recent.innermost(trace_start + 10_us) == t.id_of("lost"));
  CHECK(recent.innermost(trace_start + 25_us) == t.id_of("a"));
  CHECK(recent.innermost(trace_start + 35_us) == range_id{});
}
