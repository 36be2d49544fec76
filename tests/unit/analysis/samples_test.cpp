// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/samples.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <random>

using namespace gpuprof;
using namespace gpuprof::host;

namespace {

samples series(std::vector<std::uint64_t> const& values) {
  samples made;
  for (auto const value : values) made.add(value);
  return made;
}

}  // namespace

TEST_CASE("two kernels of 100 and 200 ns have the deviation that nsys prints, 70.7") {
  auto const s = series({100, 200}).summarize();
  CHECK(s.count == 2);
  CHECK(s.total == 300);
  CHECK(s.average == 150);
  CHECK(s.median == 150);
  CHECK(s.minimum == 100);
  CHECK(s.maximum == 200);
  CHECK(s.deviation == Approx(70.7107).epsilon(1e-5));
}

TEST_CASE("a single value has zero deviation, and without values all statistics are zero") {
  auto const one = series({5}).summarize();
  CHECK(one.median == 5);
  CHECK(one.deviation == 0);
  auto const none = series({}).summarize();
  CHECK(none.count == 0);
  CHECK(none.minimum == 0);
  CHECK(none.average == 0);
}

TEST_CASE("values beyond 32 bits count in full, also in the median") {
  constexpr std::uint64_t hour = 3'600'000'000'000;
  auto const s = series({hour, 1, hour + 2, 3}).summarize();
  CHECK(s.total == 2 * hour + 6);
  CHECK(s.maximum == hour + 2);
  CHECK(s.minimum == 1);
  CHECK(s.median == (3.0 + static_cast<double>(hour)) / 2);
  CHECK(series({4'294'967'295, 4'294'967'296}).summarize().total == 8'589'934'591);
}

TEST_CASE("every statistic of random series equals the plain computation") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint64_t> values(1 + random() % 40);
    for (auto& value : values) value = random() % (round % 2 == 0 ? 50 : 10'000'000'000);
    auto const s = series(values).summarize();

    std::sort(values.begin(), values.end());
    auto const n = values.size();
    double sum = 0;
    for (auto const value : values) sum += static_cast<double>(value);
    double squares = 0;
    for (auto const value : values)
      squares += std::pow(static_cast<double>(value) - sum / static_cast<double>(n), 2);
    CHECK(s.minimum == values.front());
    CHECK(s.maximum == values.back());
    CHECK(s.average == Approx(sum / static_cast<double>(n)));
    CHECK(s.median == (static_cast<double>(values[n / 2]) +
                       static_cast<double>(values[n % 2 == 1 ? n / 2 : n / 2 - 1])) /
                          2);
    CHECK(s.deviation == Approx(n == 1 ? 0 : std::sqrt(squares / static_cast<double>(n - 1))));
  }
}

TEST_CASE("joined series give the statistics of all values") {
  auto all = series({1, 5'000'000'000});
  all.add_all(series({3, 6'000'000'000}));
  auto const s = all.summarize();
  CHECK(s.count == 4);
  CHECK(s.median == (3.0 + 5e9) / 2);
}
