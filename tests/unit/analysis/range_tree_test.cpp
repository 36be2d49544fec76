// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/range_tree.hpp"

#include "host/analysis/range_summary.hpp"
#include "support/catch.hpp"
#include "support/trace_of.hpp"

#include <random>

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

namespace {

range_tree tree_of(trace const& t) {
  return {t.begins, t.ends, t.last};
}

}  // namespace

TEST_CASE("ranges know their enclosing range on the same thread") {
  auto const t = trace_of({range("step", 0_us, 100_us), range("fwd", 10_us, 50_us),
                           range("other", 20_us, 30_us).on_thread(2)});
  auto const tree = tree_of(t);
  auto const step = tree.index_of(t.id_of("step"));
  auto const fwd = tree.index_of(t.id_of("fwd"));
  CHECK(tree[fwd].parent == step);
  CHECK(tree[step].parent == no_range);
  CHECK(tree[tree.index_of(t.id_of("other"))].parent == no_range);
  CHECK(tree.is_within(fwd, step));
  CHECK(tree.is_within(step, step));
  CHECK_FALSE(tree.is_within(step, fwd));
  CHECK(tree[step].duration() == 100_us);
}

TEST_CASE("the outermost range of a helper thread lies in the range of the thread that waits") {
  auto const t =
      trace_of({range("step", 0_us, 100_us), range("backward", 40_us, 80_us),
                range("op", 50_us, 60_us).on_thread(2), range("inner", 52_us, 58_us).on_thread(2),
                range("late", 70_us, 90_us).on_thread(2), range("over", 90_us, 120_us).on_thread(3),
                range("early", 20_us, 30_us).on_thread(2)});
  auto tree = tree_of(t);
  auto const of = [&](char const* name) { return tree.index_of(t.id_of(name)); };
  CHECK(tree[of("op")].around() == no_range);
  tree.join_helpers(static_cast<thread_index>(1));
  CHECK(tree[of("op")].around() == of("backward"));
  CHECK(tree[of("op")].parent == no_range);
  CHECK(tree[of("inner")].around() == of("op"));
  CHECK(tree[of("late")].around() == of("step"));  // backward returns before
  CHECK(tree[of("over")].around() == no_range);
  CHECK(tree[of("early")].around() == of("step"));
  CHECK(tree[of("step")].around() == no_range);
}

TEST_CASE(
    "the thread with most time in ranges counts as waiting if the main thread has no ranges") {
  auto const t =
      trace_of({range("step", 0_us, 100_us).on_thread(5), range("op", 50_us, 60_us).on_thread(2)});
  auto tree = tree_of(t);
  tree.join_helpers(static_cast<thread_index>(1));
  CHECK(tree[tree.index_of(t.id_of("op"))].around() == tree.index_of(t.id_of("step")));
}

TEST_CASE("a range that outlasts another of its thread is not inside of it") {
  auto t = trace_of({range("outer", 0_us, 200_us), range("first", 10_us, 100_us),
                     range("second", 80_us, 150_us)});
  for (auto& begin : t.begins)
    if (begin.range == t.id_of("second")) begin.parent = t.id_of("first");
  auto const tree = tree_of(t);
  CHECK(tree[tree.index_of(t.id_of("second"))].parent == tree.index_of(t.id_of("outer")));
}

TEST_CASE("a range that was never closed ends at the last moment of the trace") {
  auto const t = trace_of({range("open", 10_us, 10_us).left_open(), kernel("k", 20_us, 90_us)});
  auto const tree = tree_of(t);
  CHECK(tree.still_open() == 1);
  CHECK(tree[0].duration() == 80_us);
}

TEST_CASE("unknown range numbers give no range") {
  auto const t = trace_of({range("a", 0_us, 1_us)});
  auto const tree = tree_of(t);
  CHECK(tree.index_of(static_cast<range_id>(0)) == no_range);
  CHECK(tree.index_of(static_cast<range_id>(12345)) == no_range);
  CHECK(range_tree{}.index_of(static_cast<range_id>(1)) == no_range);
  range_end const stray{trace_start, static_cast<range_id>(999), {}};
  CHECK(range_tree(t.begins, std::vector{stray}, t.last).still_open() == 1);
}

TEST_CASE("ranges that name each other as parents do not hang the reader") {
  auto t = trace_of({range("a", 0_us, 10_us), range("b", 0_us, 10_us)});
  t.begins[0].parent = t.begins[1].range;
  t.begins[1].parent = t.begins[0].range;
  auto const tree = tree_of(t);
  CHECK((tree[0].parent == no_range || tree[1].parent == no_range));
  t.begins[0].parent = t.begins[0].range;
  CHECK(tree_of(t)[0].parent == no_range);
}

TEST_CASE("every range is found by its number, however many there are") {
  std::vector<range_begin> begins;
  std::mt19937_64 random(3);
  for (std::uint64_t i = 0; i < 20'000; ++i)
    begins.push_back({.time = {1000 + random() % 5000},
                      .range = static_cast<range_id>(((i % 5 + 1) << 40) + i)});
  range_tree const tree(begins, {}, {});
  bool all_found = true;
  for (auto const& begin : begins) {
    auto const index = tree.index_of(begin.range);
    all_found = all_found && index != no_range && tree[index].id == begin.range;
  }
  CHECK(all_found);
}

TEST_CASE("start/end ranges are open from their beginning to their end, both included") {
  auto const t =
      trace_of({range("io", 10_us, 20_us).start_end(), range("net", 15_us, 30_us).start_end()});
  auto const tree = tree_of(t);
  open_ranges const open(tree);
  CHECK(open.at(trace_start + 9_us).empty());
  CHECK(open.at(trace_start + 10_us).size() == 1);
  CHECK(open.at(trace_start + 15_us).size() == 2);
  CHECK(open.at(trace_start + 20_us).size() == 2);
  CHECK(open.at(trace_start + 21_us).size() == 1);
  CHECK(open.at(trace_start + 31_us).empty());
  CHECK(open.at(trace_start + 12_us).size() == 1);  // also backwards in time
}

TEST_CASE("the index of open start/end ranges agrees with a search of all ranges") {
  std::mt19937_64 random(11);
  std::vector<event> events;
  for (int i = 0; i < 60; ++i) {
    auto const begin = static_cast<std::int64_t>(random() % 500);
    auto const end = begin + static_cast<std::int64_t>(random() % 80);
    events.push_back(range(numbered("r", i), {begin}, {end}).start_end());
  }
  auto const t = trace_of(events);
  auto const tree = tree_of(t);
  open_ranges const open(tree);
  for (int i = 0; i < 500; ++i) {
    auto const moment = trace_start + duration_ns{static_cast<std::int64_t>(random() % 620)};
    std::size_t expected = 0;
    for (auto const& r : tree.ranges()) expected += r.begin <= moment && moment <= r.end ? 1 : 0;
    CHECK(open.at(moment).size() == expected);
  }
}

TEST_CASE("a program that never ends its start/end ranges does not take all memory") {
  std::vector<range_begin> begins;
  for (std::uint64_t i = 0; i < 300'000; ++i)
    begins.push_back({.time = {1000 + i},
                      .range = static_cast<range_id>(i + 1),
                      .style = range_style::start_end});
  range_tree const tree(begins, {}, {400'000});
  open_ranges const open(tree);
  CHECK(open.not_followed() > 0);
  auto const followed = open.at({350'000}).size();
  CHECK(followed >= 16);
  CHECK(followed + open.not_followed() == 300'000);
}

TEST_CASE("time in ranges is summed by name, domain and style") {
  auto const t = trace_of({range("step", 0_us, 10_us), range("step", 20_us, 40_us),
                           range("step", 50_us, 51_us).in_domain("lib"),
                           range("step", 60_us, 65_us).start_end()});
  auto const rows = ranges_by_name(tree_of(t));
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].time.count == 2);
  CHECK(rows[0].time.total == 30'000);
  CHECK(rows[1].key.style == range_style::start_end);
  CHECK(t.names.text(rows[2].key.domain) == "lib");
}

TEST_CASE("what is inside of a range that is left out belongs to the range around it") {
  auto const t =
      trace_of({range("step", 0_us, 100_us), range("linear", 10_us, 60_us).in_domain("torch"),
                range("mine", 20_us, 50_us), range("addmm", 30_us, 40_us).in_domain("torch"),
                range("node", 30_us, 40_us).in_domain("torch").on_thread(2)});
  auto tree = tree_of(t);
  CHECK_FALSE(tree.has_left_out());
  tree.leave_out([&](traced_range const& range) { return t.text()(range.domain) == "torch"; });
  REQUIRE(tree.size() == 2);
  CHECK(tree.has_left_out());
  auto const of = [&](char const* name) { return tree.index_of(t.id_of(name)); };
  CHECK(tree[of("mine")].parent == of("step"));
  CHECK(of("linear") == of("step"));
  CHECK(of("addmm") == of("mine"));
  CHECK(of("addmm") == of("mine"));  // the last answer is remembered
  CHECK(of("node") == no_range);
}
