// SPDX-License-Identifier: Apache-2.0
#include "host/advice/joined_advice.hpp"

#include "host/advice/rule.hpp"
#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::host::advice;

namespace {

finding waiting(std::string what, double low, double high) {
  finding one;
  one.rule = "sync_point";
  one.what = std::move(what);
  one.range = "step";
  one.gain = {low, high};
  return one;
}

advice_of_rank rank_with(std::string rank, std::vector<finding> shown,
                         std::vector<finding> too_small = {}) {
  advice_of_rank one{std::move(rank), 1000, {}};
  one.given.findings = std::move(shown);
  one.given.too_small = std::move(too_small);
  return one;
}

kernel_facts kernel(double ns, std::optional<double> of_roof, bound_by::kind bound) {
  kernel_facts one;
  one.total_ns = ns;
  one.figures.of_roof = of_roof;
  one.figures.bound.what = bound;
  return one;
}

}  // namespace

TEST_CASE("a finding of several ranks is shown once with the gain of each") {
  std::vector<advice_of_rank> const ranks = {
      rank_with("0", {waiting("copies of 4 bytes", 10, 100)}),
      rank_with("1", {waiting("copies of 8 bytes", 20, 80), waiting("a wait", 1, 30)})};
  auto const joined = join(ranks);
  CHECK(joined.ranks == 2);
  REQUIRE(joined.findings.size() == 2);
  auto const& both = joined.findings[0];
  CHECK(both.ranks.size() == 2);
  CHECK(both.one.what == "copies of 4 bytes");  // of the rank with the higher gain
  CHECK(both.ns.low == 10);
  CHECK(both.ns.high == 100);
  CHECK(both.share.high == Approx(0.1));
  CHECK(joined.findings[1].ranks.front().rank == "1");
}

TEST_CASE("two equal findings of one rank stay separate") {
  std::vector<advice_of_rank> const ranks = {
      rank_with("0", {waiting("a wait", 0, 50), waiting("a wait", 0, 40)}),
      rank_with("1", {waiting("a wait", 0, 50), waiting("a wait", 0, 40)})};
  auto const joined = join(ranks);
  REQUIRE(joined.findings.size() == 2);
  CHECK(joined.findings[0].ranks.size() == 2);
  CHECK(joined.findings[1].ns.high == 40);
}

TEST_CASE("a finding that is small on only one rank is shown with all of its ranks") {
  std::vector<advice_of_rank> const ranks = {rank_with("0", {waiting("a wait", 0, 50)}),
                                             rank_with("1", {}, {waiting("a wait", 0, 5)}),
                                             rank_with("2", {}, {waiting("another", 0, 5)})};
  auto const joined = join(ranks);
  REQUIRE(joined.findings.size() == 1);
  CHECK(joined.findings[0].ranks.size() == 2);
  CHECK(joined.findings[0].ns.low == 0);
  REQUIRE(joined.too_small.size() == 1);
}

TEST_CASE("a rule that some rank could not look at is listed once, with all that is missing") {
  auto first = rank_with("0", {}), second = rank_with("1", {});
  auto const* const rule = find_rule("sync_point");
  first.given.missing = {{rule, data::kernels}};
  second.given.missing = {{rule, data::peaks}};
  auto const joined = join(std::vector{first, second});
  REQUIRE(joined.missing.size() == 1);
  CHECK(names_of(joined.missing[0].missing) == std::vector<std::string>{"kernels", "peaks"});
}

TEST_CASE(
    "the distance to the roof is weighted by time over known kernels, without communication") {
  run_facts facts;
  CHECK_FALSE(roof_distance_of(facts));
  facts.kernels = {kernel(300, 0.9, bound_by::kind::dram), kernel(100, 0.5, bound_by::kind::l2),
                   kernel(100, std::nullopt, bound_by::kind::unknown)};
  facts.kernels.push_back(kernel(900, 0.1, bound_by::kind::latency));
  facts.kernels.back().is_communication = true;
  auto const distance = roof_distance_of(facts);
  REQUIRE(distance);
  CHECK(distance->share == Approx(0.8));
  CHECK(distance->known_share == Approx(0.8));
  CHECK(distance->bound.what == bound_by::kind::dram);
}

TEST_CASE("all data that a rule needs has a name and a way to record it") {
  for (auto const* const rule : all_rules())
    for (int bit = 0; bit < 16; ++bit) {
      auto const one = static_cast<data>(1 << bit);
      if (!rule->needs.has(one)) continue;
      INFO(rule->name << " needs " << (1 << bit));
      CHECK(names_of(one).size() == 1);
      CHECK_FALSE(how_to_record(one).empty());
    }
}
