// SPDX-License-Identifier: Apache-2.0
// The buffers for CUPTI: zeroed, reused, never beyond the budget.
#include "guest/collect/buffer_pool.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

constexpr std::size_t one = 64 << 10;

bool all_zero(buffer_pool::buffer b) {
  return std::all_of(b.bytes, b.bytes + b.size, [](std::uint8_t byte) { return byte == 0; });
}

}  // namespace

TEST_CASE("buffers come zeroed, aligned and in the size asked for") {
  memory_budget budget(4 * one);
  buffer_pool pool(budget, one, true);
  auto const b = pool.take();
  REQUIRE(b.bytes != nullptr);
  CHECK(b.size == one);
  CHECK(reinterpret_cast<std::uintptr_t>(b.bytes) % 8 == 0);
  CHECK(all_zero(b));
  CHECK(budget.used() == one);
  pool.release(b, 0);
}

TEST_CASE("a released buffer is reused, zeroed, and takes no more of the budget") {
  memory_budget budget(4 * one);
  buffer_pool pool(budget, one, true);
  auto const first = pool.take();
  std::memset(first.bytes, 0xff, 1000);
  pool.release(first, 1000);
  auto const again = pool.take();
  CHECK(again.bytes == first.bytes);
  CHECK(all_zero(again));
  CHECK(budget.used() == one);
  pool.release(again, 0);
}

TEST_CASE("a newer CUPTI is refused when the budget is used up, and the refusal is counted") {
  memory_budget budget(2 * one);
  buffer_pool pool(budget, one, true);
  auto const a = pool.take(), b = pool.take(), c = pool.take();
  CHECK(b.bytes != nullptr);
  CHECK(c.bytes == nullptr);
  CHECK(c.size == 0);
  CHECK(pool.refusals() == 1);
  CHECK(budget.used() == 2 * one);
  pool.release(a, 0);
  auto const d = pool.take();
  CHECK(d.bytes == a.bytes);
  CHECK(pool.refusals() == 1);
  pool.release(b, 0);
  pool.release(d, 0);
}

TEST_CASE("memory others took from the budget counts too") {
  memory_budget budget(2 * one);
  REQUIRE(budget.reserve(2 * one - one / 4));
  buffer_pool pool(budget, one, true);
  CHECK(pool.take().bytes == nullptr);
}

TEST_CASE("an older CUPTI gets small buffers before it is refused, 64 at a time") {
  memory_budget budget(one);
  buffer_pool pool(budget, one, false);
  auto const large = pool.take();
  std::vector<buffer_pool::buffer> small;
  for (int i = 0; i < 64; ++i) small.push_back(pool.take());
  for (auto const& b : small) {
    REQUIRE(b.bytes != nullptr);
    CHECK(b.size == 16 << 10);
  }
  for (int i = 0; i < 100; ++i) CHECK(pool.take().bytes == nullptr);
  CHECK(pool.refusals() == 164);
  CHECK(budget.used() == one);
  SECTION("and again as many once those are back, however often it was refused") {
    for (auto const& b : small) pool.release(b, b.size);
    small.clear();
    for (int i = 0; i < 64; ++i) small.push_back(pool.take());
    CHECK(std::all_of(small.begin(), small.end(), [](auto b) { return b.bytes != nullptr; }));
    CHECK(pool.take().bytes == nullptr);
  }
  for (auto const& b : small) pool.release(b, b.size);
  pool.release(large, 0);
}

TEST_CASE("a buffer of another client is distinguished from ours") {
  memory_budget budget(4 * one);
  buffer_pool pool(budget, one, true);
  auto const ours = pool.take();
  std::vector<std::uint8_t> theirs(one);
  CHECK(pool.is_ours(ours.bytes));
  CHECK_FALSE(pool.is_ours(theirs.data()));
  CHECK_FALSE(pool.is_ours(ours.bytes + 8));
  pool.release(ours, 0);
}

TEST_CASE("the small buffers of an older CUPTI are ours until they are returned") {
  memory_budget budget(1);
  buffer_pool pool(budget, one, false);
  auto const small = pool.take();
  CHECK(pool.is_ours(small.bytes));
  pool.release(small, 0);
  CHECK_FALSE(pool.is_ours(small.bytes));
}

TEST_CASE("buffers kept ready count in the budget and are handed out first") {
  memory_budget budget(3 * one);
  buffer_pool pool(budget, one, true);
  pool.keep_ready(2);
  CHECK(budget.used() == 2 * one);
  pool.keep_ready(2);
  CHECK(budget.used() == 2 * one);
  auto const a = pool.take(), b = pool.take();
  CHECK(budget.used() == 2 * one);
  pool.keep_ready(5);  // one more is all there is
  CHECK(budget.used() == 3 * one);
  CHECK(pool.refusals() == 0);
  pool.release(a, 0);
  pool.release(b, 0);
}

TEST_CASE("a pool that ends gives its memory back to the budget") {
  memory_budget budget(4 * one);
  {
    buffer_pool pool(budget, one, true);
    pool.keep_ready(3);
  }
  CHECK(budget.used() == 0);
}

TEST_CASE(
    "a thousand threads with a buffer each fit the default limit, and all memory is returned") {
  constexpr std::size_t limit = 256 << 20;
  memory_budget budget(limit);
  buffer_pool pool(budget, 1 << 20, false);
  std::vector<buffer_pool::buffer> taken;
  for (int turn = 0; turn < 3; ++turn) {
    std::set<std::uint8_t*> different;
    for (int i = 0; i < 1000; ++i) different.insert(taken.emplace_back(pool.take()).bytes);
    CHECK(different.size() == 1000);
    CHECK(pool.refusals() == 0);
    CHECK(budget.used() < limit / 2);
    CHECK(taken.front().size == 1 << 20);
    for (auto const& b : taken) {
      if (!all_zero(b) || !pool.is_ours(b.bytes)) FAIL("it is not a fresh one");
      b.bytes[b.size - 1] = 1;
      pool.release(b, b.size);
    }
    taken.clear();
    pool.release_idle(4);
    CHECK(budget.used() > limit / 4);  // they were wanted
  }
  pool.release_idle(4);
  CHECK(budget.used() <= 5 << 20);
}

TEST_CASE("buffers in regular use are kept, the others are freed") {
  memory_budget budget(64 * one);
  buffer_pool pool(budget, one, true);
  std::vector<buffer_pool::buffer> taken;
  auto const use = [&](int count) {
    for (int i = 0; i < count; ++i) taken.push_back(pool.take());
    for (auto const& b : taken) pool.release(b, 0);
    taken.clear();
  };
  use(12);
  pool.release_idle(2);
  CHECK(budget.used() == 12 * one);
  for (int second = 0; second < 3; ++second) {
    use(5);
    pool.release_idle(2);
    CHECK(budget.used() == 7 * one);
  }
  pool.release_idle(2);
  CHECK(budget.used() == 2 * one);
}

TEST_CASE("releasing nothing is allowed") {
  memory_budget budget(one);
  buffer_pool pool(budget, one, true);
  pool.release({}, 0);
  CHECK(budget.used() == 0);
}

TEST_CASE("many threads never get the same buffer, nor more than the budget") {
  constexpr int threads = 4, turns = 500;
  memory_budget budget(8 * one);
  buffer_pool pool(budget, one, true);
  bounded_queue<buffer_pool::buffer> filled(64);
  std::atomic<int> wrong{0}, running{threads};
  std::vector<std::thread> takers;
  for (int t = 0; t < threads; ++t) {
    takers.emplace_back([&, t] {
      for (int i = 0; i < turns; ++i) {
        auto const b = pool.take();
        if (b.bytes == nullptr) continue;
        if (b.bytes[0] != 0 || !pool.is_ours(b.bytes)) ++wrong;
        std::memset(b.bytes, t + 1, 64);
        std::this_thread::yield();
        if (b.bytes[63] != t + 1) ++wrong;
        if (!filled.push(b)) ++wrong;
      }
      --running;
    });
  }
  while (running > 0) {
    while (auto b = filled.pop()) pool.release(*b, 64);
    pool.keep_ready(2);
    if (budget.used() > budget.limit()) ++wrong;
  }
  for (auto& t : takers) t.join();
  while (auto b = filled.pop()) pool.release(*b, 64);
  CHECK(wrong == 0);
}
