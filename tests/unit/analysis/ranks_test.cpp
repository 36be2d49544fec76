// SPDX-License-Identifier: Apache-2.0
// Figures over ranks: how far they differ, how far clocks are apart, who waits for whom.
#include "host/analysis/ranks/clock_offsets.hpp"
#include "host/analysis/ranks/collective_waits.hpp"
#include "host/analysis/ranks/rank_spread.hpp"
#include "support/catch.hpp"
#include "support/trace_of.hpp"

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

namespace {

constexpr char const* all_reduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";

timestamp_ns at(std::int64_t microseconds) {
  return trace_start + duration_ns{microseconds * 1000};
}

/// Starts and ends in microseconds.
collective_occurrences ran(std::vector<std::pair<std::int64_t, std::int64_t>> const& times,
                           std::string const& name = all_reduce) {
  collective_occurrences occurrences;
  for (auto const& [start, end] : times) occurrences[name].push_back({at(start), at(end)});
  return occurrences;
}

clock_offsets clocks_that_agree(std::size_t ranks) {
  clock_offsets clocks;
  clocks.of_rank.assign(ranks, 0);
  return clocks;
}

std::vector<collective_row> waits_of(std::vector<collective_occurrences> const& ranks,
                                     clock_offsets const& clocks, std::uint64_t tolerance = 0) {
  std::vector<collective_occurrences const*> each;
  for (auto const& rank : ranks) each.push_back(&rank);
  return collective_waits(each, clocks, tolerance);
}

}  // namespace

TEST_CASE("the spread of a figure names the rank with the maximum") {
  std::vector<rank_value> const values = {{0, 10}, {4, 30}, {7, 20}, {9, 30}};
  auto const spread = spread_of(values);
  CHECK(spread.ranks == 4);
  CHECK(spread.minimum == 10);
  CHECK(spread.median == 25);
  CHECK(spread.maximum == 30);
  CHECK(spread.greatest == 4);
  CHECK(spread.share() == Approx(20.0 / 25));
  CHECK(spread_of({}).ranks == 0);
}

TEST_CASE("overlapping GPU work counts once as busy time, on each GPU") {
  busy_time busy;
  busy.add(device_id{0}, at(0), 10_us);
  busy.add(device_id{0}, at(2), 3_us);
  busy.add(device_id{0}, at(8), 4_us);
  busy.add(device_id{1}, at(9), 5_us);
  busy.add(device_id{0}, at(20), 1_us);
  CHECK(busy.total_ns() == 12'000 + 1'000 + 5'000);
  CHECK(busy.devices().size() == 2);
}

TEST_CASE("the clock offset of two hosts is the median difference of the ends of collectives") {
  auto const first = ran({{0, 100}, {1000, 1100}, {2000, 2100}, {3000, 3100}, {4000, 4100}});
  auto const second = ran({{700, 801}, {1700, 1799}, {2690, 2800}, {3750, 3800}, {4000, 4802}});
  auto const clocks = offsets_of(std::vector<rank_timeline>{
      {"node1", {}, &first}, {"node2", {}, &second}, {"node1", {}, nullptr}});
  REQUIRE(clocks.hosts.size() == 2);
  CHECK(clocks.hosts[1].ahead_ns == 700'000);
  CHECK(clocks.hosts[1].ends == 5);
  REQUIRE(clocks.hosts[1].error_ns.has_value());
  CHECK(*clocks.hosts[1].error_ns == 1500);  // from -1 us to 2 us
  CHECK(clocks.of_rank == std::vector<std::int64_t>{0, 700'000, 0});
}

TEST_CASE(
    "a collective that need not end together, or ran less often on one host, gives no offset") {
  auto const broadcast = ran({{0, 100}, {1000, 1100}, {2000, 2100}}, "ncclDevKernel_Broadcast");
  auto const three = ran({{0, 100}, {1000, 1100}, {2000, 2100}});
  auto const four = ran({{0, 100}, {1000, 1100}, {2000, 2100}, {3000, 3100}});
  for (auto const& [one, other] : {std::pair{&broadcast, &broadcast}, std::pair{&three, &four}}) {
    auto const clocks =
        offsets_of(std::vector<rank_timeline>{{"node1", {}, one}, {"node2", {}, other}});
    CHECK_FALSE(clocks.hosts[1].error_ns.has_value());
    CHECK(clocks.of_rank[1] == 0);
  }
}

TEST_CASE("ranks of one host share its clock, even if it was set between their starts") {
  auto const clocks = offsets_of(std::vector<rank_timeline>{{"node1", 5'000'000, nullptr},
                                                            {"node1", 255'000'000, nullptr},
                                                            {"node1", 5'000'100, nullptr}});
  REQUIRE(clocks.hosts.size() == 1);
  CHECK(clocks.hosts[0].was_stepped);
  CHECK(clocks.of_rank == std::vector<std::int64_t>{0, 250'000'000, 0});
}

TEST_CASE("all wait in a collective for the rank that begins last") {
  auto const rows = waits_of({ran({{0, 100}, {1000, 1100}}), ran({{30, 100}, {1090, 1100}}),
                              ran({{90, 100}, {1060, 1100}})},
                             clocks_that_agree(3));
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].matched == 2);
  CHECK(rows[0].unmatched == 0);
  CHECK(rows[0].ranks == 3);
  CHECK(rows[0].wait_ns == (90 + 60 + 90 + 30) * 1000);
  CHECK(rows[0].start_spread.maximum == 90'000);
  CHECK(rows[0].kernel_ns == (100 + 70 + 10 + 100 + 10 + 40) * 1000);
  CHECK(rows[0].times_last == 1);
  CHECK(rows[0].waits_longest == 0);
}

TEST_CASE("a collective that a rank has not recorded is left out, the others still match") {
  auto const rows =
      waits_of({ran({{0, 100}, {1000, 1100}, {2000, 2100}}), ran({{1050, 1100}, {2010, 2100}})},
               clocks_that_agree(2));
  CHECK(rows[0].matched == 2);
  CHECK(rows[0].unmatched == 1);
  CHECK(rows[0].start_spread.maximum == 50'000);
  CHECK(rows[0].last == 1);
}

TEST_CASE("waits are seen after the clocks are corrected") {
  auto clocks = clocks_that_agree(2);
  clocks.of_rank[1] = 500'000;
  auto const rows = waits_of({ran({{0, 100}}), ran({{540, 600}})}, clocks);
  CHECK(rows[0].matched == 1);
  CHECK(rows[0].wait_ns == 40'000);
}

TEST_CASE("a kernel that only one rank has is not a collective") {
  auto const rows =
      waits_of({ran({{0, 100}}), ran({{0, 100}}, "other_all_reduce")}, clocks_that_agree(2));
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].matched == 0);
  CHECK(rows[0].unmatched == 1);
}
