// SPDX-License-Identifier: Apache-2.0
// Tables and lines are those of CPython 3.11: code.co_linetable and code.co_lines().
#include "guest/stacks/line_table.hpp"

#include "support/catch.hpp"

#include <array>
#include <cstdint>
#include <random>
#include <vector>

using gpuprof::guest::line_of_instruction;

namespace {

struct stretch {
  std::int64_t begin, end;
  std::uint32_t line;
};

template <std::size_t N>
void check(std::vector<std::uint8_t> const& table, std::uint32_t first_line,
           std::array<stretch, N> const& lines) {
  for (auto const& [begin, end, line] : lines)
    for (auto at = begin; at < end; at += 2) {
      INFO("instruction at byte " << at);
      CHECK(line_of_instruction(table, first_line, at) == line);
    }
}

}  // namespace

TEST_CASE("an instruction of a statement over several lines has the line of its part") {
  check({128, 0,  224, 8,   9,  136, 65, 137, 5,   128, 65,  221, 13,  18, 216, 12,  14,
         241, 3,  1,   14,  16, 244, 0,  1,   14,  16,  240, 0,   4,   5,  17,  240, 0,
         4,   5,  17,  136, 1,  240, 6,  0,   9,   10,  136, 97,  216, 14, 15,  241, 3,
         1,   15, 16,  241, 0,  1,   9,  17,  136, 1,   136, 1,   224, 11, 12,  128, 72},
        2,
        std::to_array<stretch>({{0, 2, 2},
                                {2, 12, 4},
                                {12, 24, 5},
                                {24, 26, 6},
                                {26, 46, 5},
                                {46, 50, 8},
                                {50, 52, 9},
                                {52, 64, 8},
                                {64, 68, 10}}));
}

TEST_CASE("a gap of three hundred lines is counted") {
  check({128, 0,  216, 8,  9, 128, 65, 216, 8,   9,  128, 65, 216, 8,   9,
         128, 65, 240, 90, 9, 0,   9,  10,  128, 65, 216, 11, 12,  128, 72},
        1,
        std::to_array<stretch>(
            {{0, 2, 1}, {2, 6, 2}, {6, 10, 3}, {10, 14, 4}, {14, 18, 305}, {18, 22, 306}}));
}

TEST_CASE("an instruction outside of the table has the first line") {
  std::vector<std::uint8_t> const table{128, 0, 216, 8, 9};
  CHECK(line_of_instruction(table, 7, -2) == 7);
  CHECK(line_of_instruction(table, 7, 100) == 7);
  CHECK(line_of_instruction({}, 7, 0) == 7);
}

TEST_CASE("a damaged table gives some line and ends") {
  std::mt19937 random(17);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::uint8_t> table(random() % 64);
    for (auto& byte : table) byte = static_cast<std::uint8_t>(random());
    auto const line = line_of_instruction(table, 5, static_cast<std::int64_t>(random() % 200));
    CHECK(line <= 0x7fffffff);
  }
}
