// SPDX-License-Identifier: Apache-2.0
#include "host/compare/matching.hpp"

#include "host/compare/comparison.hpp"
#include "support/catch.hpp"
#include "unit/compare/made_runs.hpp"

#include <algorithm>

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::host::compare;

namespace {

side_kernel called(double launches, std::string range = "forward", std::string behind = "") {
  return {launches, std::move(range), std::move(behind)};
}

/// "renamed old -> new", in the order of letters.
std::vector<std::string> matched(side_kernels const& base, side_kernels const& fresh) {
  std::vector<std::string> all;
  for (auto const& match : match_kernels(base, fresh)) {
    auto text = std::string(name_of(match.how));
    for (auto const& key : match.base) text += " " + key.name;
    text += " ->";
    for (auto const& key : match.fresh) text += " " + key.name;
    all.push_back(text);
  }
  std::sort(all.begin(), all.end());
  return all;
}

using lines = std::vector<std::string>;

}  // namespace

TEST_CASE("kernels match by name and geometry, then by name") {
  side_kernels const base = {{kernel_named("a", 1), called(2)},
                             {kernel_named("a", 2), called(3)},
                             {kernel_named("b"), called(1)}};
  side_kernels const fresh = {{kernel_named("a", 1), called(2)},
                              {kernel_named("a", 8), called(3)},
                              {kernel_named("b"), called(1)}};
  CHECK(matched(base, fresh) == lines{"by name a -> a", "same a -> a", "same b -> b"});
}

TEST_CASE("a kernel that vanished after the same kernel as a new one was renamed") {
  side_kernels const base = {{kernel_named("a"), called(4)},
                             {kernel_named("old"), called(4, "forward", "a")}};
  side_kernels const fresh = {{kernel_named("a"), called(4)},
                              {kernel_named("new"), called(4, "elsewhere", "a")}};
  CHECK(matched(base, fresh) == lines{"renamed old -> new", "same a -> a"});
}

TEST_CASE("a sequence of renamed kernels keeps its order") {
  side_kernels const base = {{kernel_named("a"), called(4)},
                             {kernel_named("old1"), called(4, "r", "a")},
                             {kernel_named("old2"), called(4, "r", "old1")}};
  side_kernels const fresh = {{kernel_named("a"), called(4)},
                              {kernel_named("new2"), called(4, "r", "x1")},
                              {kernel_named("x1"), called(4, "r", "a")}};
  CHECK(matched(base, fresh) == lines{"renamed old1 -> x1", "renamed old2 -> new2", "same a -> a"});
}

TEST_CASE("a vanished kernel and several new ones in its place are a split") {
  side_kernels const base = {{kernel_named("a"), called(4)},
                             {kernel_named("old"), called(4, "r", "a")}};
  side_kernels const fresh = {{kernel_named("a"), called(4)},
                              {kernel_named("part1"), called(8, "r", "a")},
                              {kernel_named("part2"), called(8, "r", "part1")}};
  CHECK(matched(base, fresh) == lines{"same a -> a", "split old -> part1 part2"});
}

TEST_CASE("the only unmatched kernels of a range match each other, whatever ran before them") {
  side_kernels const base = {{kernel_named("old"), called(4, "loss", "x")}};
  side_kernels const fresh = {{kernel_named("new"), called(4, "loss", "y")},
                              {kernel_named("other"), called(4, "forward", "z")}};
  CHECK(matched(base, fresh) == lines{"new -> other", "renamed old -> new"});
}

TEST_CASE("a kernel with another number of launches is not the same kernel") {
  side_kernels const base = {{kernel_named("old"), called(4)}};
  side_kernels const fresh = {{kernel_named("new"), called(3)}};
  CHECK(matched(base, fresh) == lines{"gone old ->", "new -> new"});
}

TEST_CASE("the cost of a split kernel is the sum of its parts") {
  auto base = made_runs({.kernels = 6, .run_drift = 0}, 1, 1);
  auto fresh = base;
  auto& kernels = fresh.front().kernels;
  auto const half = kernels.at(kernel_named("kernel_5"));
  kernels.erase(kernel_named("kernel_5"));
  kernels[kernel_named("part1")] = half;
  kernels[kernel_named("part2")] = half;
  kernels[kernel_named("part2")].predecessor = "part1";
  auto const compared = compare_runs(base, fresh);
  auto const split = std::find_if(compared.lines.begin(), compared.lines.end(),
                                  [](auto const& l) { return l.how == match_kind::split; });
  REQUIRE(split != compared.lines.end());
  CHECK(split->base_name == "kernel_5");
  CHECK(split->name == "part1 + part2");
  CHECK(std::abs(*split->change - 1) < 1e-9);
  CHECK(split->is == verdict::worse);
}
