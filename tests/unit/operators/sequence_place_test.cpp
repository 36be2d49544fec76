// SPDX-License-Identifier: Apache-2.0
#include "guest/operators/sequence_place.hpp"

#include "support/catch.hpp"

#include <array>

using namespace gpuprof::guest;

namespace {

/// What lies on the stack from a RecordFunction on.
struct function_and_more {
  std::array<std::uint64_t, sequence_place::words + 8> words{};
  std::byte const* address() const { return reinterpret_cast<std::byte const*>(words.data()); }
};

}  // namespace

TEST_CASE("the place of the number is the word that agrees with it several times") {
  sequence_place place;
  function_and_more function;
  for (std::uint64_t number = 100; number < 100 + sequence_place::agreements; ++number) {
    CHECK_FALSE(place.is_known());
    CHECK_FALSE(place.number_of(function.address()));
    function.words[40] = function.words[9] = number;  // the caller has it, too
    function.words[3] = 100;                          // agrees once
    place.compare(function.address(), number);
  }
  REQUIRE(place.is_known());
  function.words[9] = 7;
  CHECK(place.number_of(function.address()) == 7);
  function.words[9] = ~std::uint64_t{0};
  CHECK_FALSE(place.number_of(function.address()));
}

TEST_CASE("operators without a number do not disturb the search") {
  sequence_place place;
  function_and_more with, without;
  for (std::uint64_t number = 10; number < 30; ++number) {
    with.words[5] = number;
    place.compare(without.address(), number);
    place.compare(with.address(), number);
  }
  REQUIRE(place.is_known());
  CHECK(place.number_of(with.address()) == 29);
}

TEST_CASE("a word that agrees by chance is given up when another one agrees") {
  sequence_place place;
  function_and_more function;
  for (std::uint64_t number = 10; number < 12; ++number) {
    function.words[30] = number;
    place.compare(function.address(), number);
  }
  for (std::uint64_t number = 12; number < 20; ++number) {
    function.words[5] = number;
    place.compare(function.address(), number);
  }
  REQUIRE(place.is_known());
  CHECK(place.number_of(function.address()) == 19);
}

TEST_CASE("the same number again, or a small one, proves nothing") {
  sequence_place place;
  function_and_more function;
  for (auto i = 0; i < 20; ++i) {
    function.words[5] = 50;
    place.compare(function.address(), 50);
    function.words[5] = static_cast<std::uint64_t>(i % 4);
    place.compare(function.address(), static_cast<std::uint64_t>(i % 4));
  }
  CHECK_FALSE(place.is_known());
}

TEST_CASE("the search for the place ends some time") {
  sequence_place place;
  function_and_more const function;
  for (std::uint64_t number = 10; place.is_wanted() && number < 200'000; ++number)
    place.compare(function.address(), number);
  CHECK_FALSE(place.is_wanted());
  CHECK_FALSE(place.is_known());
}
