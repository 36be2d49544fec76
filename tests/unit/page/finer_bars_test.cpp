// SPDX-License-Identifier: Apache-2.0
#include "host/page/timeline_bars.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <random>

using namespace gpuprof::host::page;
using gpuprof::captured_stretch;

namespace {

constexpr std::size_t max_lanes_of_row = 8;

timeline_piece piece_on(std::uint64_t stream, std::uint64_t start_ns, std::uint64_t length_ns) {
  return {{0, 0, stream}, start_ns, length_ns, "kernel", max_lanes_of_row};
}

/// As the first pass through a capture makes it.
struct drawn {
  explicit drawn(std::size_t limit) : bars(limit) {}

  void add(timeline_piece const& piece) {
    auto& lanes = rows[piece.row];
    auto const at = first_free(lanes, piece.start_ns);
    if (at >= piece.max_lanes) return;
    if (at == lanes.size()) lanes.push_back({bars.add_lane("GPU 0", "", 0), 0});
    lanes[at].busy_until_ns = piece.start_ns + piece.length_ns;
    bars.add(lanes[at].lane, piece.start_ns, piece.length_ns, 0);
  }

  timeline_bars bars;
  lanes_by_row rows;
};

/// Kernels on two streams, those of the second overlap; on a third one that lasts from beginning to
/// end, and what runs beside it.
std::vector<timeline_piece> work(std::uint32_t seed, std::size_t count) {
  std::mt19937 random(seed);
  std::vector<timeline_piece> pieces{piece_on(3, 0, 1'000'000'000)};
  for (std::size_t i = 0; i < count; ++i) {
    auto const at = 1000 * i + random() % 1000;
    pieces.push_back(piece_on(1, at, 100 + random() % 500));
    pieces.push_back(piece_on(2, at, i % 20 == 0 ? 0 : random() % 3000));
    if (i % 3 == 0) pieces.push_back(piece_on(3, at, random() % 2000));
  }
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](auto const& a, auto const& b) { return a.start_ns < b.start_ns; });
  return pieces;
}

drawn drawn_of(std::vector<timeline_piece> const& pieces, std::size_t limit) {
  drawn made(limit);
  for (auto const& one : pieces) made.add(one);
  return made;
}

/// Reads the windows once more; what is joined in them then, 0: nothing.
std::uint64_t look_into(drawn& made, std::vector<timeline_piece> const& pieces,
                        std::vector<captured_stretch> const& wanted, std::size_t limit) {
  auto const windows = grown(wanted, made.bars.joined_below_ns());
  finer_bars finer(made.bars, made.rows, windows, limit);
  for (auto const& window : windows)
    for (auto const& one : pieces)
      if (window.begin_ns <= one.start_ns && one.start_ns < window.end_ns) finer.add(one, 0);
  for (auto const& window : windows) made.bars.take(finer.bars(), window.begin_ns, window.end_ns);
  return finer.bars().joined_below_ns();
}

using extent = std::pair<std::uint64_t, std::uint64_t>;
std::vector<extent> bars_within(lane const& of, captured_stretch const& window) {
  std::vector<extent> found;
  for (auto at = of.first_from(window.begin_ns); at != of.first_from(window.end_ns); ++at)
    found.emplace_back(at->start_ns, at->length_ns);
  return found;
}

std::uint64_t pieces_of(timeline_bars const& bars) {
  std::uint64_t sum = 0;
  for (auto const& lane : bars.lanes())
    for (auto const& one : lane.bars) sum += one.count;
  return sum;
}

}  // namespace

TEST_CASE("within windows each piece is a separate bar again, on the same lane") {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    auto const pieces = work(seed, 10'000);
    auto const whole = drawn_of(pieces, 1'000'000);
    auto made = drawn_of(pieces, 2000);
    REQUIRE(made.bars.joined_below_ns() > 0);
    std::vector<captured_stretch> const windows{{1'000'400, 1'200'000}, {7'000'000, 7'040'100}};
    CHECK(look_into(made, pieces, windows, 5000) == 0);
    REQUIRE(whole.bars.lanes().size() == made.bars.lanes().size());
    for (std::size_t lane = 0; lane < whole.bars.lanes().size(); ++lane)
      for (auto const& window : windows)
        CHECK(bars_within(made.bars.lanes()[lane], window) ==
              bars_within(whole.bars.lanes()[lane], window));
    CHECK(pieces_of(made.bars) == pieces.size());
  }
}

TEST_CASE("bars that touch are also separated") {
  std::vector<timeline_piece> pieces;
  for (std::uint64_t i = 0; i < 100'000; ++i) pieces.push_back(piece_on(1, 100 * i, 100));
  auto made = drawn_of(pieces, 1000);
  captured_stretch const window{5'000'000, 5'100'000};
  look_into(made, pieces, {window}, 5000);
  CHECK(bars_within(made.bars.lanes()[0], window).size() == 1000);
  CHECK(pieces_of(made.bars) == pieces.size());
}

TEST_CASE("windows that hold too much are joined less than before, and lose nothing") {
  auto const pieces = work(7, 50'000);
  auto made = drawn_of(pieces, 2000);
  auto const before = made.bars.joined_below_ns();
  auto const after = look_into(made, pieces, {{1'000'000, 5'000'000}}, 2000);
  CHECK(after > 0);
  CHECK(after < before);
  CHECK(pieces_of(made.bars) == pieces.size());
}

TEST_CASE("windows are rounded to multiples once, and windows that meet are joined") {
  auto const windows = grown({{1'000, 1'150}, {1'160, 1'290}, {2'000, 2'100}}, 100);
  REQUIRE(windows.size() == 2);
  CHECK(windows[0].begin_ns == 1'000);
  CHECK(windows[0].end_ns == 1'300);
  CHECK(windows[1].end_ns == 2'100);
  auto const again = grown(windows, 100);
  CHECK(again[0].end_ns == 1'300);
}
