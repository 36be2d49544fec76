// SPDX-License-Identifier: Apache-2.0
#include "host/page/duration_spread.hpp"
#include "support/catch.hpp"

#include <numeric>

using gpuprof::host::page::duration_histogram;
using gpuprof::host::page::shown_durations;

namespace {

std::uint64_t sum(shown_durations const& of) {
  return std::accumulate(of.counts.begin(), of.counts.end(), of.shorter + of.longer);
}

/// Each begins where the one before ends, and there are not too many.
void check_bins(shown_durations const& of) {
  REQUIRE(of.edges.size() == of.counts.size() + 1);
  CHECK(of.counts.size() <= duration_histogram::max_shown);
  for (std::size_t i = 1; i < of.edges.size(); ++i) CHECK(of.edges[i] > of.edges[i - 1]);
}

}  // namespace

TEST_CASE("similar durations are in bins of almost equal width") {
  duration_histogram made(10'000, 50'000);
  for (std::uint64_t ns = 10'000; ns <= 50'000; ns += 10) made.add(ns);
  auto const shown = made.shown();
  check_bins(shown);
  CHECK_FALSE(shown.logarithmic);
  CHECK(shown.counts.size() >= 30);
  for (std::size_t i = 0; i + 1 < shown.counts.size(); ++i)
    CHECK(static_cast<double>(shown.counts[i]) == Approx(100).margin(12));
  CHECK(sum(shown) == 4001);
  CHECK(shown.shorter + shown.longer == 0);
}

TEST_CASE("durations of several magnitudes are in bins of growing width") {
  duration_histogram made(1'000, 10'000'000);
  for (double ns = 1'000; ns <= 10'000'000; ns *= 1.001) made.add(static_cast<std::uint64_t>(ns));
  auto const shown = made.shown();
  check_bins(shown);
  CHECK(shown.logarithmic);
  CHECK(shown.counts.size() >= 30);
  auto const factor = [&](std::size_t i) {
    return static_cast<double>(shown.edges[i + 1]) / static_cast<double>(shown.edges[i]);
  };
  CHECK(factor(0) == Approx(factor(shown.counts.size() - 2)).epsilon(0.05));
}

TEST_CASE("a few outliers do not push all other launches into one bin") {
  duration_histogram made(1'065'000, 3'370'000);
  for (std::uint64_t i = 0; i < 1500; ++i) made.add(1'065'000 + 15 * i);
  for (auto const ns : {3'300'000, 3'350'000, 3'370'000}) made.add(static_cast<std::uint64_t>(ns));
  auto const shown = made.shown();
  check_bins(shown);
  CHECK(shown.counts.size() >= 10);
  CHECK(shown.longer >= 3);
  CHECK(shown.longer < 20);
  CHECK(shown.edges.back() < 1'100'000);
  CHECK(sum(shown) == 1503);
}

TEST_CASE("two groups of launches are both shown") {
  duration_histogram made(145'000, 225'000);
  for (int i = 0; i < 80; ++i) made.add(145'000);
  for (int i = 0; i < 720; ++i) made.add(225'000);
  auto const shown = made.shown();
  CHECK(shown.counts.front() == 80);
  CHECK(shown.counts.back() == 720);
}

TEST_CASE("no bin is narrower than a step of the clock") {
  duration_histogram made(832, 897);
  for (std::uint64_t ns = 832; ns <= 896; ns += 32) made.add(ns);
  auto const shown = made.shown();
  for (std::size_t i = 1; i + 1 < shown.edges.size(); ++i)
    CHECK(shown.edges[i] - shown.edges[i - 1] >= duration_histogram::narrowest_ns);
  CHECK(shown.counts.size() <= 3);
}

TEST_CASE("launches of equal duration are one bar") {
  duration_histogram made(5'000'000, 5'000'000);
  for (int i = 0; i < 7; ++i) made.add(5'000'000);
  auto const shown = made.shown();
  CHECK(shown.counts == std::vector<std::uint64_t>{7});
  CHECK(shown.edges.back() - shown.edges.front() == duration_histogram::narrowest_ns);
}

TEST_CASE("each launch is counted, even outside the announced range") {
  for (auto const& [shortest, longest] : {std::pair<std::uint64_t, std::uint64_t>{0, 0},
                                          {0, 1},
                                          {0, 1'000'000},
                                          {5, 5},
                                          {900, 100},
                                          {1, 9},
                                          {1, ~std::uint64_t{0} >> 12}}) {
    duration_histogram made(shortest, longest);
    check_bins(made.shown());
    for (auto const ns : {std::uint64_t{0}, shortest, longest, ~std::uint64_t{0}}) made.add(ns);
    auto const shown = made.shown();
    check_bins(shown);
    CHECK(sum(shown) == 4);
  }
}
