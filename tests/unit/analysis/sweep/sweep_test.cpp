// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sweep/sweep_points.hpp"
#include "support/catch.hpp"

#include <ctime>
#include <limits>
#include <random>

using namespace gpuprof;
using namespace gpuprof::host;

namespace {

constexpr bound_by latency{bound_by::kind::latency, {}}, dram{bound_by::kind::dram, {}},
    l2{bound_by::kind::l2, {}}, tensor{bound_by::kind::compute, precision::tensor_bf16}, unknown{};

sweep_point at(std::string label, std::optional<double> flops, std::optional<double> of_roof = {},
               bound_by bound = unknown) {
  sweep_point point;
  point.size = size_of(label);
  point.label = std::move(label);
  point.flops = flops;
  point.of_roof = of_roof;
  point.bound = bound;
  return point;
}
sweep_point moves(std::string label, double bytes, double of_roof, bound_by bound) {
  auto point = at(std::move(label), {}, of_roof, bound);
  point.bytes = bytes;
  return point;
}

std::vector<std::string> labels_of(std::vector<sweep_point> const& points) {
  std::vector<std::string> labels;
  for (auto const& point : points) labels.push_back(point.label);
  return labels;
}

using indices = std::vector<std::size_t>;

}  // namespace

TEST_CASE("a size is a label that is entirely a number") {
  CHECK(size_of("4096") == 4096);
  CHECK(size_of("1e6") == 1e6);
  CHECK(size_of("-0.5") == -0.5);
  for (auto const* const label :
       {"", "4k", "4096 ", " 4096", "nan", "inf", "-inf", "0x10", "1e999"})
    CHECK_FALSE(size_of(label).has_value());
}

TEST_CASE("sizes are sorted by number, categories keep their order") {
  auto const sizes = in_order(std::vector{at("1000", 1), at("200", 1), at("3e1", 1)});
  CHECK(labels_of(sizes) == std::vector<std::string>{"3e1", "200", "1000"});
  auto const mixed = in_order(std::vector{at("1000", 1), at("small", 1), at("200", 1)});
  CHECK(labels_of(mixed) == std::vector<std::string>{"1000", "small", "200"});
  CHECK_FALSE(find_in(mixed).is_ordered);
}

TEST_CASE("equal sizes form one point with the mean and the spread") {
  auto first = at("4096", 100, 0.5, tensor), second = at("4096.0", 120, 0.7, tensor);
  first.calls = 3;
  second.calls = 4;
  first.time_per_call = 10;
  auto const points = in_order(std::vector{first, at("1", 7), second, at("4096", {}, {}, dram)});
  REQUIRE(points.size() == 2);
  auto const& merged = points[1];
  CHECK(merged.captures == 3);
  CHECK(merged.calls == 7);
  CHECK(*merged.flops == 110);
  CHECK(*merged.of_roof == 0.6);
  CHECK(merged.bound == tensor);
  CHECK(merged.all_flops->least == 100);
  CHECK(*spread_of(merged.all_flops, merged.flops) == Approx(20. / 110));
  CHECK(*merged.time_per_call == 10);  // of those that have one
  CHECK_FALSE(merged.times_per_call);
  CHECK_FALSE(points[0].all_flops);
}

TEST_CASE("the plateau is the median of the values within 5 % of the maximum") {
  auto const found = find_in(
      std::vector{at("1", 10), at("2", 94), at("3", 96), at("4", 100), at("5", 97), at("6", 94.9)});
  REQUIRE(found.plateau);
  CHECK(found.judged == sweep_figure::flops);
  CHECK(found.plateau->points == indices{2, 3, 4});
  CHECK(found.plateau->value == 97);
  CHECK(found.plateau->greatest == 100);
  CHECK(found.plateau->fastest == 3);
  CHECK(found.reached == 1);  // 94 of 97
  CHECK_FALSE(found.still_rises);
  CHECK_FALSE(found.leaves_roof);
}

TEST_CASE("two values on the plateau give their mean, and the first of equal values counts") {
  auto const found = find_in(std::vector{at("1", 96), at("2", 100), at("3", 50)});
  CHECK(found.plateau->value == 98);
  auto const ties = find_in(std::vector{at("1", 5), at("2", 5), at("3", 5)});
  CHECK(ties.plateau->value == 5);
  CHECK(ties.plateau->fastest == 0);
  CHECK(ties.reached == 0);
}

TEST_CASE("the curve still rises if only the largest size is the fastest") {
  CHECK(find_in(std::vector{at("1", 10), at("2", 20), at("3", 40)}).still_rises);
  CHECK_FALSE(find_in(std::vector{at("1", 10), at("2", 39), at("3", 40)}).still_rises);
  CHECK_FALSE(find_in(std::vector{at("1", 40), at("2", 10), at("3", 10)}).still_rises);
}

TEST_CASE("one size, and sizes without rates, have no plateau") {
  CHECK_FALSE(find_in({}).plateau);
  CHECK_FALSE(find_in(std::vector{at("1", 10)}).plateau);
  auto const one = find_in(std::vector{at("1", 10), at("2", {}), at("3", 0)});
  CHECK_FALSE(one.plateau);
  CHECK(one.judged == sweep_figure::flops);
  auto const none = find_in(std::vector{at("1", {}), at("2", {})});
  CHECK(none.judged == sweep_figure::none);
  CHECK_FALSE(none.plateau);
  auto const broken = std::numeric_limits<double>::infinity();
  CHECK_FALSE(find_in(std::vector{at("1", broken), at("2", 3)}).plateau);
}

TEST_CASE("sizes leave the roof only beyond the plateau, not before it") {
  auto const found = find_in(std::vector{at("1", 10, 0.01, latency), at("2", 70, 0.66, tensor),
                                         at("3", 97, 0.82, tensor), at("4", 100, 0.84, tensor),
                                         at("5", 90, 0.76, tensor), at("6", 80, 0.70, tensor)});
  CHECK(*found.plateau->of_roof == Approx(0.83));
  CHECK(found.leaves_roof == 5);  // 0.76 is above 0.9 x 0.83, 0.70 is not
  auto const stays = find_in(
      std::vector{at("1", 10, 0.1, latency), at("2", 99, 0.8, tensor), at("3", 100, 0.8, tensor)});
  CHECK_FALSE(stays.leaves_roof);
}

TEST_CASE("bytes are judged if memory bounds and computing does not") {
  auto relu = std::vector{moves("1", 1, 0.2, latency), moves("2", 30, 0.8, dram),
                          moves("3", 31, 0.85, dram)};
  for (auto& point : relu) point.flops = 1e3;
  CHECK(find_in(relu).judged == sweep_figure::bytes);
  CHECK(find_in(relu).plateau->value == 30.5);
  relu[2].bound = tensor;
  CHECK(find_in(relu).judged == sweep_figure::flops);
  for (auto& point : relu) point.flops = 0;
  CHECK(find_in(relu).judged == sweep_figure::bytes);
}

TEST_CASE("the knee lies between the last memory-bound size and the first compute-bound one") {
  auto const found = find_in(std::vector{at("1", 1, 0.1, latency), at("2", 2, 0.5, l2),
                                         at("3", 3, 0.5, dram), at("4", 4, 0.3, latency),
                                         at("5", 5, 0.5, tensor), at("6", 6, 0.6, tensor)});
  REQUIRE(found.turns.size() == 1);
  CHECK(found.turns[0].from == 2);
  CHECK(found.turns[0].to == 4);
  CHECK(found.turns[0].to_compute);
}

TEST_CASE("a bound that alternates has several turns, a constant one has none") {
  auto const noisy = find_in(std::vector{at("1", 1, 0.5, dram), at("2", 2, 0.5, tensor),
                                         at("3", 3, 0.5, dram), at("4", 4, 0.5, tensor)});
  CHECK(noisy.turns.size() == 3);
  CHECK_FALSE(noisy.turns[1].to_compute);
  CHECK(find_in(std::vector{at("1", 1, 0.5, tensor), at("2", 2, 0.5, tensor)}).turns.empty());
}

TEST_CASE("categories have a plateau, and no place where it begins") {
  auto const found = find_in(
      std::vector{at("a", 10, 0.1, dram), at("b", 98, 0.8, tensor), at("c", 100, 0.8, tensor)});
  CHECK(found.plateau->value == 99);
  CHECK_FALSE(found.reached);
  CHECK_FALSE(found.leaves_roof);
  CHECK(found.turns.empty());
}

TEST_CASE("the plateau of noisy values is nearer to the truth than their greatest") {
  std::mt19937 random(7);
  std::normal_distribution<double> noise(0, 0.01);
  double plateau_error = 0, greatest_error = 0;
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<sweep_point> points;
    for (int i = 1; i <= 12; ++i)
      points.push_back(at(std::to_string(1 << i), 100 * (1 - 1. / (1 << i)) * (1 + noise(random))));
    auto const found = find_in(points);
    plateau_error += std::abs(found.plateau->value - 100);
    greatest_error += std::abs(found.plateau->greatest - 100);
    CHECK(*found.reached <= 4);
  }
  CHECK(plateau_error < 0.6 * greatest_error);
}

TEST_CASE("200,000 sizes, or as many captures of one size, take no longer than reading them",
          "[timing]") {
  constexpr int count = 200'000;
  std::vector<sweep_point> different, equal, named;
  for (int i = count; i > 0; --i) {
    different.push_back(at(std::to_string(i), i));
    equal.push_back(at("4096", i, 0.5, i % 3 == 0 ? dram : tensor));
    named.push_back(at("size " + std::to_string(i), i));
  }
  auto const began = std::clock();
  auto const sizes = in_order(different), one = in_order(equal), names = in_order(named);
  auto const seconds = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
  REQUIRE(sizes.size() == count);
  CHECK(sizes.front().label == "1");
  REQUIRE(one.size() == 1);
  CHECK(one.front().captures == count);
  CHECK(one.front().bound == tensor);
  REQUIRE(names.size() == count);
  CHECK(names.front().label == "size 200000");
  CHECK(seconds < 5);  // a look at all others for each of them: minutes
}
