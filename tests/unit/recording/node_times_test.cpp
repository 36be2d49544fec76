// SPDX-License-Identifier: Apache-2.0
// The work of graphs that were recorded as wholes, told from launches that were recorded by nodes.
#include "guest/recording/node_times.hpp"

#include "support/catch.hpp"

#include <cstdint>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

constexpr timestamp_ns end_of_time{~std::uint64_t{0}};
constexpr graph_id some_graph{7};

kernel_record node(std::uint32_t correlation, std::uint64_t start, std::int64_t duration,
                   std::uint64_t number = 1) {
  kernel_record k;
  k.start = {start};
  k.duration = {duration};
  k.graph = some_graph;
  k.node = graph_node_id{number};
  k.correlation = static_cast<correlation_id>(correlation);
  return k;
}

graph_record whole(std::uint32_t correlation, std::uint64_t start, std::int64_t duration,
                   graph_id graph = some_graph) {
  graph_record g;
  g.start = {start};
  g.duration = {duration};
  g.graph = graph;
  g.correlation = static_cast<correlation_id>(correlation);
  g.range = range_id{5};
  return g;
}

struct taken_launches {
  std::vector<kernel_record> kernels;
  std::vector<copy_record> copies;
  std::vector<memset_record> fills;
  std::vector<graph_record> unknown;
  std::uint64_t computed = 0;
};
taken_launches take(node_times& times, timestamp_ns ended_before = end_of_time,
                    timestamp_ns complete_before = {}) {
  taken_launches taken;
  taken.computed =
      times.take({ended_before, complete_before},
                 {.kernel = [&](kernel_record const& k) { taken.kernels.push_back(k); },
                  .copy = [&](copy_record const& c) { taken.copies.push_back(c); },
                  .fill = [&](memset_record const& f) { taken.fills.push_back(f); },
                  .unknown = [&](graph_record const& g) { taken.unknown.push_back(g); }});
  return taken;
}

struct span {
  std::uint64_t start;
  std::int64_t duration;
  bool operator==(span const&) const = default;
};
std::vector<span> spans(std::vector<kernel_record> const& kernels, bool computed) {
  std::vector<span> all;
  for (auto const& k : kernels)
    if ((raw(k.time_of) != 0) == computed) all.push_back({k.start.value, k.duration.value});
  return all;
}

}  // namespace

TEST_CASE("kernels of a whole graph keep their lengths; the pauses between them fit its length") {
  node_times times;
  // 10 to 110, a pause of 60, 170 to 270 beside 180 to 240, a pause of 40, 310 to 330.
  for (auto const& k :
       {node(1, 1010, 100, 1), node(1, 1170, 100, 2), node(1, 1180, 60, 3), node(1, 1310, 20, 4)})
    CHECK(times.keep(k));
  times.add(whole(2, 5000, 270));  // 220 of work: half of each pause is left
  times.add(whole(3, 6000, 220));
  times.add(whole(4, 7000, 110));  // shorter than the work
  auto const taken = take(times);
  CHECK(taken.computed == 3);
  CHECK(taken.unknown.empty());
  CHECK(spans(taken.kernels, false) ==
        std::vector<span>{{1010, 100}, {1170, 100}, {1180, 60}, {1310, 20}});
  CHECK(spans(taken.kernels, true) == std::vector<span>{{5000, 100},
                                                        {5130, 100},
                                                        {5140, 60},
                                                        {5250, 20},  //
                                                        {6000, 100},
                                                        {6100, 100},
                                                        {6110, 60},
                                                        {6200, 20},  //
                                                        {7000, 50},
                                                        {7050, 50},
                                                        {7055, 30},
                                                        {7100, 10}});
  auto const& second = taken.kernels.at(5);
  CHECK(second.node == graph_node_id{2});
  CHECK(second.correlation == correlation_id{2});
  CHECK(second.time_of == correlation_id{1});
  CHECK(second.range == range_id{5});
}

TEST_CASE("copies and fills of a whole graph are computed like its kernels") {
  node_times times;
  copy_record copy;
  copy.start = {1010};
  copy.duration = {40};
  copy.bytes = 4096;
  copy.kind = copy_kind::host_to_device;
  copy.stream = stream_id{13};
  copy.graph = some_graph;
  copy.node = graph_node_id{1};
  copy.correlation = correlation_id{1};
  memset_record fill;
  fill.start = {1060};
  fill.duration = {10};
  fill.bytes = 64;
  fill.value = 7;
  fill.stream = stream_id{13};
  fill.graph = some_graph;
  fill.node = graph_node_id{2};
  fill.correlation = correlation_id{1};
  auto kernel = node(1, 1080, 20, 3);
  kernel.stream = stream_id{13};
  CHECK(times.keep(fill));  // records may come in any order
  CHECK(times.keep(kernel));
  CHECK(times.keep(copy));
  auto next = whole(2, 5000, 80);  // 70 of work, pauses of 20
  next.stream = stream_id{20};
  times.add(next);
  auto const taken = take(times);
  CHECK(taken.computed == 1);
  CHECK(spans(taken.kernels, false) == std::vector<span>{{1080, 20}});
  CHECK(spans(taken.kernels, true) == std::vector<span>{{5060, 20}});
  REQUIRE(taken.copies.size() == 2);
  CHECK(taken.copies[0].time_of == correlation_id{0});
  CHECK(taken.copies[0].start == timestamp_ns{1010});
  auto const& second = taken.copies[1];
  CHECK(second.start == timestamp_ns{5000});
  CHECK(second.duration == duration_ns{40});
  CHECK(second.bytes == 4096);
  CHECK(second.kind == copy_kind::host_to_device);
  CHECK(second.stream == stream_id{20});
  CHECK(second.node == graph_node_id{1});
  CHECK(second.correlation == correlation_id{2});
  CHECK(second.range == range_id{5});
  CHECK(second.time_of == correlation_id{1});
  REQUIRE(taken.fills.size() == 2);
  CHECK(taken.fills[1].start == timestamp_ns{5045});
  CHECK(taken.fills[1].value == 7);
  CHECK(taken.fills[1].time_of == correlation_id{1});
}

TEST_CASE("copies outside of graphs are not kept") {
  node_times times;
  copy_record copy;
  copy.start = {1010};
  copy.duration = {40};
  copy.correlation = correlation_id{1};
  CHECK_FALSE(times.keep(copy));
}

TEST_CASE("each whole graph has the times of the latest launch before it, if that is complete") {
  node_times times;
  times.keep(node(1, 1000, 10, 1));
  times.keep(node(1, 1020, 10, 2));
  times.keep(node(2, 2000, 30, 1));
  times.keep(node(2, 2040, 30, 2));
  times.keep(node(3, 3000, 50, 1));  // one of its records was lost
  times.add(whole(4, 1500, 30));
  times.add(whole(5, 4000, 100));
  CHECK(spans(take(times).kernels, true) ==
        std::vector<span>{{1500, 10}, {1520, 10}, {4000, 30}, {4070, 30}});
  // A graph whose nodes were disabled is smaller in all its launches.
  times.keep(node(6, 6000, 50, 1));
  times.keep(node(7, 7000, 50, 1));
  times.add(whole(8, 8000, 60));
  CHECK(spans(take(times).kernels, true) == std::vector<span>{{8000, 50}});
}

TEST_CASE("times that a launch by nodes has from later wholes count from the start of these") {
  node_times times;
  auto first = node(1, 1000, 4020, 1);  // its own start, and the end of the other
  first.range = range_id{4};
  times.keep(first);
  times.keep(node(1, 5030, 20, 2));
  times.add(whole(2, 3000, 55));
  times.add(whole(3, 5000, 60));  // 5000 to 5060
  auto const taken = take(times);
  CHECK(spans(taken.kernels, false).empty());
  CHECK(spans(taken.kernels, true) ==
        std::vector<span>{{1000, 20}, {1030, 20}, {3000, 20}, {3035, 20}, {5000, 20}, {5040, 20}});
  CHECK(taken.kernels.front().correlation == correlation_id{1});
  CHECK(taken.kernels.front().range == range_id{4});
  CHECK(taken.kernels.front().time_of == correlation_id{3});
  CHECK(taken.kernels.back().range == range_id{5});
  CHECK(taken.kernels.back().time_of == correlation_id{1});
  CHECK(taken.computed == 3);
  // The next one has times of two wholes, and of its own.
  times.keep(node(5, 11000, 1020, 1));
  times.keep(node(5, 13030, 25, 2));
  times.add(whole(6, 12000, 55));
  times.add(whole(7, 13000, 60));
  auto const made = spans(take(times).kernels, true);
  REQUIRE(made.size() == 6);
  CHECK(made[0] == span{11000, 20});
  CHECK(made[1] == span{11030, 25});
  // A kernel whose start is that of a later launch than its end keeps the length that is known.
  times.keep(node(8, 21000, 2020, 1));
  auto torn = node(8, 23030, -980, 2);  // from 23,030 to 22,050
  times.keep(torn);
  times.add(whole(9, 22000, 55));
  times.add(whole(10, 23000, 60));
  CHECK(spans(take(times).kernels, true).at(1) == span{21030, 25});
}

TEST_CASE("a launch that still runs when a whole of its graph begins has its own times") {
  node_times times;
  times.keep(node(1, 1000, 20, 1));
  times.keep(node(1, 1030, 20, 2));  // to 1050
  times.add(whole(2, 1045, 60));
  CHECK(spans(take(times).kernels, false) == std::vector<span>{{1000, 20}, {1030, 20}});
  times.keep(node(3, 2000, 20, 1));  // one kernel
  times.add(whole(4, 2015, 25));
  CHECK(spans(take(times).kernels, false) == std::vector<span>{{2000, 20}});
}

TEST_CASE("whole graphs stay whole if none of their launches was recorded by nodes") {
  node_times times;
  times.keep(node(1, 1000, 10));
  times.add(whole(2, 2000, 10, graph_id{8}));
  auto const taken = take(times);
  CHECK(spans(taken.kernels, true).empty());
  REQUIRE(taken.unknown.size() == 1);
  CHECK(taken.unknown[0].correlation == correlation_id{2});
  CHECK(taken.computed == 0);
}

TEST_CASE("work waits until the records of earlier launches have come") {
  node_times times;
  times.add(whole(2, 2000, 100));
  CHECK(take(times, {2050}).unknown.empty());
  CHECK(times.oldest() == timestamp_ns{2000});
  times.keep(node(1, 1000, 10));
  CHECK(times.oldest() == timestamp_ns{1000});
  CHECK(take(times, {2200}).kernels.size() == 2);
  CHECK_FALSE(times.oldest());
}

TEST_CASE("kernels outside of graphs are not kept, those of graphs that are never whole not long") {
  node_times times;
  auto plain = node(1, 1000, 10);
  plain.graph = {};
  CHECK_FALSE(times.keep(plain));
  std::size_t passed = 0;
  for (std::uint32_t i = 1; i <= 100; ++i) {
    times.keep(node(i, 1000 * i, 10));
    // The first launches wait as long as those of other graphs.
    passed += take(times, i <= 10 ? timestamp_ns{1000 * i} : timestamp_ns{0}).kernels.size();
    if (i > 10) CHECK(passed == i - 1);
  }
  times.keep(node(101, 101'000, 99'015));  // the last one has times of a whole that follows
  times.add(whole(102, 200'000, 20));
  auto const taken = take(times);
  CHECK(spans(taken.kernels, false) == std::vector<span>{{100'000, 10}});
  CHECK(spans(taken.kernels, true) == std::vector<span>{{101'000, 15}, {200'000, 15}});
}

TEST_CASE("wholes are kept as long as a launch by nodes waits that may have their times") {
  node_times times;
  times.keep(node(1, 1000, 10, 1));
  times.keep(node(1, 1020, 10, 2));
  times.add(whole(2, 2000, 40));
  REQUIRE(take(times, {2500}).computed == 1);
  times.keep(node(3, 3000, 2010, 1));  // its first kernel ended in whole 4
  times.keep(node(3, 6025, 12, 2));    // the second ran in whole 5
  times.add(whole(4, 5000, 40));
  times.add(whole(5, 6000, 40));
  CHECK(take(times, {5500}).computed == 0);  // the second kernel has not ended
  auto const taken = take(times);
  CHECK(taken.computed == 3);
  CHECK(spans(taken.kernels, true) ==
        std::vector<span>{{3000, 10}, {3025, 12}, {5000, 10}, {5028, 12}, {6000, 10}, {6028, 12}});
}

TEST_CASE("a computed kernel runs where its graph was launched") {
  node_times times;
  for (std::uint32_t const stream : {13u, 13u, 20u}) {  // a branch on a stream of its own
    auto k = node(1, 1000 + 10 * stream, 10, stream);
    k.stream = static_cast<stream_id>(stream);
    times.keep(k);
  }
  auto elsewhere = whole(2, 5000, 100);
  elsewhere.stream = stream_id{7};
  times.add(elsewhere);
  std::vector<std::uint32_t> streams;
  for (auto const& k : take(times).kernels)
    if (raw(k.time_of) != 0) streams.push_back(static_cast<std::uint32_t>(raw(k.stream)));
  CHECK(streams == std::vector<std::uint32_t>{7, 7, 20});
}

TEST_CASE("a kernel without a launch is not kept") {
  node_times times;
  times.keep(node(1, 1000, 10));
  CHECK_FALSE(times.lacks_launches());
  CHECK_FALSE(times.keep(node(0, 1000, 10)));
  CHECK(times.lacks_launches());
}

TEST_CASE("graphs that are launched no more are forgotten") {
  constexpr std::uint64_t second = 1'000'000'000;
  node_times times;
  times.keep(node(1, second, 10));
  times.add(whole(2, 2 * second, 10));
  take(times, {3 * second});
  auto other = node(3, 200 * second, 10);
  other.graph = graph_id{8};
  times.keep(other);
  take(times, {201 * second});
  times.add(whole(4, 202 * second, 10));
  CHECK(take(times, {203 * second}).unknown.size() == 1);
}

TEST_CASE("a graph whose records have all come is passed on sooner") {
  node_times times;
  for (auto const& k : {node(1, 1000, 100, 1), node(1, 1200, 100, 2)}) CHECK(times.keep(k));
  times.add(whole(2, 2000, 300));
  // Nothing says yet how many records a launch has.
  CHECK(take(times, {1500}, {2500}).kernels.size() == 2);
  CHECK(take(times, {1500}, {2200}).computed == 0);
  CHECK(take(times, {1500}, {2500}).computed == 1);
  // A launch by nodes has only one of its two records: what is behind it waits for the other.
  CHECK(times.keep(node(3, 3000, 100, 1)));
  times.add(whole(4, 4000, 300));
  CHECK(take(times, {2500}, {4500}).kernels.empty());
  CHECK(times.keep(node(3, 3200, 100, 2)));
  auto const rest = take(times, {2500}, {4500});
  CHECK(spans(rest.kernels, false) == std::vector<span>{{3000, 100}, {3200, 100}});
  CHECK(rest.computed == 1);
}

TEST_CASE("a launch with fewer records than the one before waits for the later moment") {
  node_times times;
  for (auto const& k : {node(1, 1000, 100, 1), node(1, 1200, 100, 2)}) CHECK(times.keep(k));
  times.add(whole(2, 2000, 300));
  CHECK(take(times, {2500}).computed == 1);
  CHECK(times.keep(node(3, 3000, 100, 1)));
  CHECK(take(times, {2500}, {9000}).kernels.empty());
  CHECK(take(times, {3500}, {9000}).kernels.size() == 1);
}
