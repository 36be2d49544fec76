// SPDX-License-Identifier: Apache-2.0
#include "guest/recording/capture_windows.hpp"

#include "model/ids.hpp"
#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

constexpr std::uint64_t ms = 1'000'000;
constexpr auto id = [](std::uint32_t number) { return static_cast<correlation_id>(number); };

/// One of 1 ms every 10 ms, the first at 10 ms.
void open_and_close(capture_windows& windows, std::uint64_t count) {
  for (std::uint64_t i = 1; i <= count; ++i) {
    windows.open({i * 10 * ms});
    windows.close({i * 10 * ms + ms});
  }
}

}  // namespace

TEST_CASE("a moment lies in a window from its start to its end") {
  capture_windows windows;
  CHECK_FALSE(windows.contain({10 * ms}));
  windows.open({10 * ms});
  CHECK(windows.is_open());
  CHECK(windows.contain({10 * ms}));
  CHECK(windows.contain({900 * ms}));
  CHECK_FALSE(windows.contain({10 * ms - 1}));
  windows.close({11 * ms});
  CHECK_FALSE(windows.is_open());
  CHECK(windows.contain({11 * ms}));
  CHECK_FALSE(windows.contain({11 * ms + 1}));
  windows.open({20 * ms});
  CHECK(windows.contain({10 * ms}));
  CHECK_FALSE(windows.contain({15 * ms}));
  CHECK(windows.contain({25 * ms}));
}

TEST_CASE("a lookup takes a few steps, however many windows there were") {
  capture_windows windows;
  open_and_close(windows, 50'000);
  auto const before = windows.steps();
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    CHECK(windows.contain({i * 500 * ms + ms / 2}));
    CHECK_FALSE(windows.contain({i * 500 * ms + 5 * ms}));
    CHECK_FALSE(windows.may_hold({600'000 * ms + i}, id(1)));
  }
  CHECK(windows.steps() - before < 3000 * 20);
}

TEST_CASE("the number of windows kept is limited, and the latest are kept") {
  capture_windows windows;
  auto const count = capture_windows::max_kept + 1000;
  open_and_close(windows, count);
  CHECK(windows.kept() == capture_windows::max_kept);
  CHECK(windows.contain({count * 10 * ms}));
  CHECK(windows.contain({1001 * 10 * ms}));
  CHECK_FALSE(windows.contain({1000 * 10 * ms}));
}

TEST_CASE("windows after the clock was set back are found, and so are those before") {
  capture_windows windows;
  open_and_close(windows, 100);
  windows.open({205 * ms});  // between the 20th and the 21st
  CHECK(windows.contain({206 * ms}));
  windows.close({233 * ms});  // its end lies after the start of the 23rd
  for (auto const inside : {200, 205, 209, 215, 222, 231, 233, 240, 1000})
    CHECK(windows.contain({static_cast<std::uint64_t>(inside) * ms}));
  for (auto const outside : {204, 235, 245, 1005})
    CHECK_FALSE(windows.contain({static_cast<std::uint64_t>(outside) * ms}));
}

TEST_CASE("an open window contains times before and after the clock is set back") {
  auto const is_told = GENERATE(true, false);
  capture_windows windows;
  windows.open({100 * ms});
  if (is_told) {
    windows.clock_is_at({150 * ms});
    windows.clock_is_at({40 * ms});
    CHECK(windows.contain({45 * ms}));
    CHECK_FALSE(windows.contain({39 * ms}));
    windows.clock_is_at({60 * ms});
  }
  windows.close({70 * ms});
  CHECK(windows.contain({100 * ms}));
  CHECK(windows.contain({70 * ms}));
  CHECK(windows.contain({150 * ms}) == is_told);
  CHECK(windows.contain({45 * ms}) == is_told);
  CHECK_FALSE(windows.contain({30 * ms}));
}

TEST_CASE("a window ends when it was closed, even if a later time was seen") {
  capture_windows windows;
  windows.open({100 * ms});
  windows.clock_is_at({150 * ms});
  windows.close({140 * ms});  // an event that was read late
  CHECK_FALSE(windows.contain({145 * ms}));
}

TEST_CASE("new windows after the clock was set back are kept, even if there are too many") {
  capture_windows windows;
  open_and_close(windows, capture_windows::max_kept);
  windows.open({25 * ms});
  windows.close({26 * ms});
  CHECK(windows.kept() == capture_windows::max_kept);
  CHECK(windows.contain({25 * ms}));
}

TEST_CASE("work with an id below the first launch of its window was launched before it") {
  capture_windows windows;
  windows.open({10 * ms});
  CHECK(windows.may_hold({10 * ms}, id(5)));  // no launch of it was seen
  windows.saw({11 * ms}, id(100));
  windows.saw({10 * ms}, id(99));
  CHECK_FALSE(windows.may_hold({12 * ms}, id(98)));
  CHECK(windows.may_hold({12 * ms}, id(99)));
  auto const long_after = timestamp_ns{10 * ms + 1} + ids_are_unique_for;
  CHECK(windows.may_hold(long_after, id(98)));
  windows.close({20 * ms});
  CHECK_FALSE(windows.may_hold({12 * ms}, id(98)));
  CHECK_FALSE(windows.may_hold({21 * ms}, id(100)));
}

TEST_CASE("a launch seen before its window opens counts for the window") {
  capture_windows windows;
  windows.saw({9 * ms}, id(98));
  windows.saw({12 * ms}, id(101));
  windows.saw({11 * ms}, id(100));
  windows.open({10 * ms});
  CHECK_FALSE(windows.may_hold({13 * ms}, id(99)));
  CHECK(windows.may_hold({13 * ms}, id(100)));
  windows.close({20 * ms});
  windows.are_known();
  windows.open({30 * ms});
  CHECK(windows.may_hold({31 * ms}, id(99)));
}

TEST_CASE("a launch seen after its window has ended counts for the window") {
  capture_windows windows;
  open_and_close(windows, 3);
  windows.saw({20 * ms}, id(50));
  CHECK_FALSE(windows.may_hold({20 * ms}, id(49)));
  CHECK(windows.may_hold({10 * ms}, id(49)));
  CHECK(windows.may_hold({30 * ms}, id(49)));
}

TEST_CASE("many launches before many windows do not take a step for each pair") {
  capture_windows windows;
  constexpr std::uint64_t count = 10'000;
  for (std::uint64_t i = 1; i <= count; ++i)
    windows.saw({i * 10 * ms}, id(static_cast<std::uint32_t>(i)));
  open_and_close(windows, count);
  CHECK(windows.steps() < 50 * count);
  for (std::uint64_t i = 2; i <= count; i += 997) {
    CHECK(windows.may_hold({i * 10 * ms}, id(static_cast<std::uint32_t>(i))));
    CHECK_FALSE(windows.may_hold({i * 10 * ms}, id(static_cast<std::uint32_t>(i - 1))));
  }
}
