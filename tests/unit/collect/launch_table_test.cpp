// SPDX-License-Identifier: Apache-2.0
// Launches by correlation id: found while they may still be needed, in bounded memory.
#include "guest/collect/launch_table.hpp"

#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

launch launch_of(std::uint32_t correlation, std::uint64_t range = 0) {
  launch l;
  l.correlation = static_cast<correlation_id>(correlation);
  l.range = static_cast<range_id>(range);
  l.time = {correlation};
  return l;
}

launch* find(launch_table& table, std::uint32_t correlation) {
  return table.find(static_cast<correlation_id>(correlation));
}

}  // namespace

TEST_CASE("a launch is found by its correlation id, and no other") {
  launch_table table(16, 64);
  table.insert(launch_of(5, 50));
  REQUIRE(find(table, 5) != nullptr);
  CHECK(find(table, 5)->range == range_id{50});
  CHECK(find(table, 5 + 16) == nullptr);
  CHECK(find(table, 6) == nullptr);
}

TEST_CASE("correlation id 0 is not a launch") {
  launch_table table(16, 64);
  CHECK(find(table, 0) == nullptr);
}

TEST_CASE("a launch whose record has arrived makes room") {
  launch_table table(16, 16);
  table.insert(launch_of(1));
  find(table, 1)->matched = true;
  table.insert(launch_of(17));
  CHECK(find(table, 1) == nullptr);
  CHECK(find(table, 17) != nullptr);
  CHECK(table.overwritten() == 0);
}

TEST_CASE("the table grows rather than lose a launch that still waits") {
  launch_table table(16, 64);
  for (std::uint32_t c = 1; c <= 64; ++c) table.insert(launch_of(c, c));
  for (std::uint32_t c = 1; c <= 64; ++c) {
    REQUIRE(find(table, c) != nullptr);
    CHECK(find(table, c)->range == static_cast<range_id>(c));
  }
  CHECK(table.bytes() == 64 * sizeof(launch));
  CHECK(table.overwritten() == 0);
}

TEST_CASE("a table of maximum size overwrites the launch in the way, and counts that") {
  launch_table table(16, 32);
  for (std::uint32_t c = 1; c <= 40; ++c) table.insert(launch_of(c));
  CHECK(table.bytes() == 32 * sizeof(launch));
  CHECK(table.overwritten() == 8);
  CHECK(find(table, 8) == nullptr);
  CHECK(find(table, 9) != nullptr);
  CHECK(find(table, 40) != nullptr);
}

TEST_CASE("a launch noted twice takes one place and does not make the table grow") {
  launch_table table(16, 1 << 16);
  table.insert(launch_of(3, 1));
  table.insert(launch_of(3, 2));
  CHECK(table.bytes() == 16 * sizeof(launch));
  CHECK(table.overwritten() == 0);
  CHECK(find(table, 3)->range == range_id{2});
}

TEST_CASE("correlation ids may wrap around") {
  launch_table table(16, 64);
  table.insert(launch_of(0xffffffff, 1));
  table.insert(launch_of(1, 2));
  CHECK(find(table, 0xffffffff)->range == range_id{1});
  CHECK(find(table, 1)->range == range_id{2});
}

TEST_CASE("a cleared table is empty and keeps its memory") {
  launch_table table(16, 64);
  for (std::uint32_t c = 1; c <= 40; ++c) table.insert(launch_of(c));
  auto const before = table.bytes();
  table.clear();
  CHECK(find(table, 40) == nullptr);
  CHECK(table.bytes() == before);
}

TEST_CASE("the oldest waiting launch is found, in any order of the others") {
  launch_table table(16, 64);
  auto const waits = [](launch const& l) { return !l.matched; };
  auto const oldest = [&] {
    auto const* const found = table.oldest(waits);
    return found == nullptr ? 0 : raw(found->correlation);
  };
  CHECK(oldest() == 0);
  for (std::uint32_t const c : {1007, 1005, 1020}) table.insert(launch_of(c));
  CHECK(oldest() == 1005);
  table.find(correlation_id{1005})->matched = true;
  CHECK(oldest() == 1007);
  table.insert(launch_of(1003));  // of a thread whose log was read later
  CHECK(oldest() == 1003);
  table.find(correlation_id{1003})->matched = true;
  table.find(correlation_id{1007})->matched = true;
  CHECK(oldest() == 1020);
  table.find(correlation_id{1020})->matched = true;
  CHECK(oldest() == 0);
  for (std::uint32_t const c : {5'000'001u, 9'000'002u, 1'900'000'003u}) table.insert(launch_of(c));
  CHECK(oldest() == 5'000'001);  // many correlations are no launches
  for (std::uint32_t const c : {5'000'001u, 9'000'002u})
    table.find(correlation_id{c})->matched = true;
  CHECK(oldest() == 1'900'000'003);
  table.clear();
  CHECK(oldest() == 0);
}

TEST_CASE("the oldest waiting launch is found across a wrap-around of correlation ids") {
  launch_table table(16, 64);
  for (std::uint32_t const c : {0xfffffff0u, 0xffffffffu, 3u}) table.insert(launch_of(c));
  for (std::uint32_t const c : {0xfffffff0u, 0xffffffffu, 3u}) {
    auto* const found = table.oldest([](launch const& l) { return !l.matched; });
    REQUIRE(found != nullptr);
    CHECK(raw(found->correlation) == c);
    found->matched = true;
  }
}

TEST_CASE("a graph launch that was moved aside is still found, and is the oldest waiting launch") {
  launch_table table(16, 64);
  auto const waits = [](launch const& l) { return !l.matched; };
  auto graph = launch_of(1, 77);
  graph.flags = launch_of_graph;
  table.insert(graph);
  for (std::uint32_t c = 2; c <= 1000; ++c) {
    table.insert(launch_of(c));
    find(table, c)->matched = true;
  }
  CHECK(table.bytes() < 64 * sizeof(launch));
  REQUIRE(find(table, 1) != nullptr);
  CHECK(find(table, 1)->range == range_id{77});
  REQUIRE(table.oldest(waits) != nullptr);
  CHECK(raw(table.oldest(waits)->correlation) == 1);
  find(table, 1)->matched = true;
  CHECK(table.oldest(waits) == nullptr);
  CHECK(find(table, 1) != nullptr);
}

TEST_CASE("graph launches that have finished are released, waiting and running ones are not") {
  constexpr std::uint64_t second = 1'000'000'000;
  launch_table table(16, 64);
  auto const insert = [&](std::uint32_t correlation, std::uint64_t time, std::uint8_t flags) {
    auto l = launch_of(correlation);
    l.time = {time};
    l.flags = flags;
    table.insert(l);
  };
  for (std::uint32_t c = 1; c <= 3; ++c) insert(c, second, launch_of_graph);
  find(table, 1)->matched = find(table, 2)->matched = true;
  for (std::uint32_t c = 4; c <= 20; ++c) {
    insert(c, c * second, launch_of_graph);
    find(table, c)->matched = true;
    CHECK(find(table, 2) != nullptr);  // its kernels come, one after the other
  }
  CHECK(find(table, 1) != nullptr);
  for (std::uint32_t c = 21; c <= 40; ++c) {
    insert(c, c * second, 0);
    find(table, c)->matched = true;
    CHECK(find(table, 2) != nullptr);
  }
  CHECK(find(table, 1) == nullptr);
  CHECK(find(table, 3) != nullptr);
  CHECK(table.overwritten() == 0);
}
