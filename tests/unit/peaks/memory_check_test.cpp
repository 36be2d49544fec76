// SPDX-License-Identifier: Apache-2.0
// What memory kernels must leave and report, against their loops run thread by thread.
#include "guest/peaks/checks/memory_check.hpp"

#include "replay/driver/compute/memory_kernels.hpp"
#include "support/catch.hpp"

#include <cmath>
#include <cstring>
#include <numeric>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::guest::peaks;

namespace {

constexpr std::uint32_t fill_seed = 20260;
constexpr std::uint64_t fill_bytes = 32 * 1024, l2_chunk_bytes = 32 * 1024;

std::vector<std::uint32_t> filled(std::uint64_t bytes) {
  std::vector<std::uint32_t> words(bytes / 4);
  kernel_arguments a{};
  a.seed = fill_seed;
  a.output = words.data();
  replay::run_on_memory("memory_fill", static_cast<unsigned>(bytes / fill_bytes), a);
  return words;
}

kernel_arguments over(std::vector<std::uint32_t>& words, std::uint64_t iterations) {
  kernel_arguments a{};
  a.seed = fill_seed;
  a.input = a.output = words.data();
  a.bytes = words.size() * 4;
  a.iterations = iterations;
  return a;
}

}  // namespace

TEST_CASE("the place of a word in a filled buffer determines its value, and so does the sum") {
  auto const words = filled(8 * fill_bytes);
  unsigned wrong = 0;
  for (std::size_t i = 0; i < words.size(); ++i) wrong += words[i] != filled_word(fill_seed, i);
  CHECK(wrong == 0);
  CHECK(filled_sum(fill_seed, words.size()) == std::accumulate(words.begin(), words.end(), 0u));
  CHECK(filled_sum(fill_seed, 0) == 0);
  CHECK(filled_word(fill_seed, 5) != filled_word(fill_seed + 1, 5));
}

TEST_CASE("filled words are finite floats, far from zero and from each other") {
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    auto const word = filled_word(fill_seed, i);
    float value = 0;
    std::memcpy(&value, &word, sizeof value);
    auto const size = std::abs(value);
    REQUIRE((size >= 0.25f && size < 1));
  }
}

TEST_CASE("the place of every written word determines its value") {
  for (auto const* const kernel : {"dram_write", "l2_write"}) {
    std::vector<std::uint32_t> words(4 * l2_chunk_bytes / 4);
    bool const is_l2 = std::string(kernel) == "l2_write";
    replay::run_on_memory(kernel, is_l2 ? 3 : 4, over(words, 4));
    unsigned wrong = 0;
    for (std::size_t i = 0; i < words.size(); ++i) wrong += words[i] != written_word(fill_seed, i);
    INFO(kernel);
    CHECK(wrong == 0);
  }
}

TEST_CASE("each block of an L2 read reports the fold of its own chunks") {
  for (unsigned const blocks : {1u, 3u, 8u}) {
    for (unsigned const each : {1u, 2u, 3u}) {
      auto words = filled(std::uint64_t{blocks} * each * l2_chunk_bytes);
      auto const wanted = l2_read_folds(fill_seed, words.size() * 4, blocks);
      REQUIRE(wanted.size() == blocks);
      for (unsigned b = 0; b < blocks; ++b) {
        for (unsigned const rounds : {1u, 5u})
          CHECK(replay::l2_read_fold(b, blocks, over(words, rounds * each)) == wanted[b] * rounds);
        if (b > 0) CHECK(wanted[b] != wanted[b - 1]);
      }
      words[77] ^= 1;
      CHECK(replay::l2_read_fold(0, blocks, over(words, each)) != wanted[0]);
    }
  }
}

TEST_CASE("a fold reveals a thread that did nothing, even if all blocks agree") {
  auto words = filled(l2_chunk_bytes);
  auto const right = replay::l2_read_fold(0, 1, over(words, 1));
  for (std::size_t quad = 9; quad < words.size() / 4; quad += 512)
    for (int i = 0; i < 4; ++i) words[quad * 4 + static_cast<std::size_t>(i)] = 0;
  CHECK(replay::l2_read_fold(0, 1, over(words, 1)) != right);
}

TEST_CASE("reads of L1 and shared memory report the same fold, of the same words") {
  auto words = filled(fill_bytes);
  for (std::uint64_t const iterations : {1u, 2u, 3u, 7u}) {
    auto const wanted = local_read_fold(fill_seed, iterations);
    CHECK(replay::fold_of_blocks("l1_read", over(words, iterations)) == wanted);
    CHECK(replay::fold_of_blocks("shared_read", over(words, iterations)) == wanted);
  }
  words[1] += 1;  // of the first thread, which all rounds read
  CHECK(replay::fold_of_blocks("l1_read", over(words, 3)) != local_read_fold(fill_seed, 3));
}

TEST_CASE("writes of shared memory report the words that were written last") {
  std::vector<std::uint32_t> nothing;
  for (std::uint64_t const iterations : {1u, 2u, 3u, 10u})
    CHECK(replay::fold_of_blocks("shared_write", over(nothing, iterations)) ==
          shared_write_fold(fill_seed, iterations));
  CHECK(shared_write_fold(fill_seed, 2) != shared_write_fold(fill_seed, 3));
}
