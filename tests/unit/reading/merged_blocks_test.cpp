// SPDX-License-Identifier: Apache-2.0
// Rows of blocks that come in file order are put in order of time with bounded memory.
#include "host/reading/merged_blocks.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <random>

using namespace gpuprof;
using namespace gpuprof::host;

namespace {

struct row {
  timestamp_ns start;
  int number = 0;
};
using block = std::vector<row>;

struct sorted {
  explicit sorted(std::size_t kept) : rows(kept) {}

  bool add(block of) {
    if (!rows.add(std::move(of))) return false;
    take();
    return true;
  }
  void end() {
    rows.end();
    take();
  }
  void take() {
    for (; rows.peek() != nullptr; rows.skip()) numbers.push_back(rows.peek()->number);
  }

  time_sorter<row> rows;
  std::vector<int> numbers;
};

}  // namespace

TEST_CASE("a row is given out when as many rows as are kept have come after it") {
  sorted all(2);
  CHECK(all.add({{{10}, 1}, {{20}, 2}}));
  CHECK(all.numbers.empty());
  CHECK(all.add({{{15}, 3}}));
  CHECK(all.numbers == std::vector{1});
  CHECK(all.add({}));
  all.end();
  CHECK(all.numbers == std::vector{1, 3, 2});
}

TEST_CASE("a block that is not sorted is sorted, and equal times keep the order of the file") {
  sorted all(100);
  CHECK(all.add({{{30}, 1}, {{10}, 2}, {{30}, 3}}));
  CHECK(all.add({{{10}, 4}, {{30}, 5}}));
  all.end();
  CHECK(all.numbers == std::vector{2, 4, 1, 3, 5});
}

TEST_CASE("a row that begins before one that was given out is reported") {
  sorted all(1);
  CHECK(all.add({{{10}, 1}, {{20}, 2}, {{30}, 3}}));
  SECTION("earlier") {
    CHECK(!all.add({{{19}, 4}}));
  }
  SECTION("at the same time, which is in order") {
    CHECK(all.add({{{20}, 4}}));
    all.end();
    CHECK(all.numbers == std::vector{1, 2, 4, 3});
  }
}

TEST_CASE(
    "blocks that overlap by less than the rows that are kept come out as if all were sorted") {
  std::mt19937 random(7);
  sorted all(2000);
  block every;
  for (int i = 0; i < 100; ++i) {
    block one;
    for (int j = 0; j < 300; ++j)
      one.push_back({{static_cast<std::uint64_t>(i * 300 + int(random() % 1500))},
                     static_cast<int>(every.size() + one.size())});
    every.insert(every.end(), one.begin(), one.end());
    REQUIRE(all.add(std::move(one)));
  }
  all.end();
  std::stable_sort(every.begin(), every.end(),
                   [](row const& a, row const& b) { return a.start < b.start; });
  std::vector<int> wanted;
  for (auto const& one : every) wanted.push_back(one.number);
  CHECK(all.numbers == wanted);
}
