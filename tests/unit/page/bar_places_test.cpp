// SPDX-License-Identifier: Apache-2.0
#include "host/page/bar_places.hpp"

#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace gpuprof::host::page;

namespace {

constexpr row_key stream{0, 0, 7}, thread{2, 0, 100};

struct made_bars {
  explicit made_bars(std::size_t limit = 100) : bars(limit) {
    for (auto const& row : {stream, thread}) rows[row].push_back({bars.add_lane("", "", 0), 0});
  }
  std::string place_of(std::size_t lane, std::size_t bar) const {
    auto const place = bars.lanes()[lane].bars[bar].place;
    return place == 0 ? "none" : places.at(place - 1);
  }

  timeline_bars bars;
  lanes_by_row rows;
  std::vector<std::string> places;
  bar_places to{bars, rows, places};
};

}  // namespace

TEST_CASE("a piece gives its place to its bar, and the same place has one number") {
  made_bars made;
  for (std::uint64_t i = 0; i < 3; ++i) made.bars.add(0, 100 * i, 50, 0);
  made.to.add_piece(stream, 0, 50, "a.py:1");
  made.to.add_piece(stream, 200, 50, "a.py:1");
  CHECK(made.place_of(0, 0) == "a.py:1");
  CHECK(made.place_of(0, 1) == "none");
  CHECK(made.place_of(0, 2) == "a.py:1");
  CHECK(made.places.size() == 1);
}

TEST_CASE("bars that are joined have the place of the longest piece, or none") {
  made_bars made(4);
  for (std::uint64_t i = 0; i < 8; ++i) made.bars.add(0, 10 * i, i % 4 == 2 ? 9 : 5, 0);
  REQUIRE(made.bars.lanes()[0].bars.size() == 1);
  SECTION("of the first of several that are as long") {
    for (std::uint64_t i = 0; i < 8; ++i)
      made.to.add_piece(stream, 10 * i, i % 4 == 2 ? 9 : 5, "line " + std::to_string(i));
    CHECK(made.place_of(0, 0) == "line 2");
  }
  SECTION("none if that of the first is not known") {
    for (std::uint64_t i = 0; i < 8; ++i)
      made.to.add_piece(stream, 10 * i, i % 4 == 2 ? 9 : 5, i == 2 ? "" : "other");
    CHECK(made.place_of(0, 0).empty());
  }
}

TEST_CASE("a piece that is not shown gives nothing") {
  made_bars made;
  made.bars.add(0, 100, 50, 0);
  made.to.add_piece(stream, 90, 50, "early");
  made.to.add_piece(stream, 160, 50, "late");
  made.to.add_piece(stream, 100, 51, "longer");
  made.to.add_piece({0, 1, 7}, 100, 50, "of another GPU");
  CHECK(made.place_of(0, 0) == "none");
}

TEST_CASE("a launch gives its place to the call in which it was made") {
  made_bars made;
  for (std::uint64_t i = 0; i < 4; ++i) made.bars.add(1, 5000 * i, 3000, 0);
  made.to.add_piece(thread, 0, 3000, "");
  made.to.add_piece(thread, 5000, 3000, "own");
  made.to.add_launch(thread, 200, "first");
  made.to.add_launch(thread, 5200, "another");
  made.to.add_launch(thread, 9500, "before its call");
  made.to.add_launch(thread, 13'500, "outside of all");
  CHECK(made.place_of(1, 0) == "first");
  CHECK(made.place_of(1, 1) == "own");
  CHECK(made.place_of(1, 2) == "before its call");
  CHECK(made.place_of(1, 3) == "none");
}
