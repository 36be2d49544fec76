// SPDX-License-Identifier: Apache-2.0
#include "host/page/packed_columns.hpp"

#include "support/catch.hpp"

#include <array>
#include <vector>

using gpuprof::host::page::packed;
using gpuprof::host::page::planes_of;

TEST_CASE("numbers are stored as byte planes, as many as the largest needs") {
  std::array<std::uint64_t, 3> const numbers{1, 0x0203, 0xff};
  CHECK(planes_of(numbers) == std::string("\2\1\3\xff\0\2\0", 7));
}

TEST_CASE("only zeros need no plane") {
  std::array<std::uint64_t, 2> const zeros{};
  CHECK(planes_of(zeros) == std::string(1, '\0'));
  CHECK(planes_of(std::vector<std::uint64_t>{}) == std::string(1, '\0'));
}

TEST_CASE("the greatest number has eight planes") {
  std::array<std::uint64_t, 1> const greatest{~std::uint64_t{0}};
  CHECK(planes_of(greatest) == std::string(1, '\10') + std::string(8, '\xff'));
}

TEST_CASE("packed text is base64 in complete groups") {
  for (auto const* text : {"", "a", "ab", "abc", "a longer text, a longer text, a longer text"}) {
    auto const made = packed(text);
    CHECK(made.size() % 4 == 0);
    CHECK(made.find_first_not_of(
              "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=") ==
          std::string::npos);
    CHECK(made.starts_with("eJ"));  // the header of zlib at this level
  }
}
