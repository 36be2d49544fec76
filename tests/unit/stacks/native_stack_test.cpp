// SPDX-License-Identifier: Apache-2.0
#include "guest/stacks/native_stack.hpp"

#include "guest/nvtx/log_decoder.hpp"
#include "guest/stacks/known_stacks.hpp"
#include "guest/stacks/loaded_binaries.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <dlfcn.h>
#include <functional>
#include <gnu/libc-version.h>
#include <map>
#include <string>
#include <thread>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

constexpr auto every_kind = std::uint8_t{63};

/// What the threads have written, by thread and number.
struct native_notes {
  std::map<std::pair<thread_index, std::uint16_t>, std::vector<log_frame>> stacks;
  std::size_t described = 0;
  void launch(launch_note const&) {}
  void call(driver_call_note const&) {}
  void begin(range_begin const&) {}
  void end(range_end const&) {}
  void mark(mark_record const&) {}
  void sample(thread_sample_note const&) {}
  void graph_node(graph_node_note const&) {}
  void stack(stack_note const& note) {
    stacks[{note.thread, note.number}].assign(note.frames.begin(), note.frames.end());
    ++described;
  }
};

void prepare_logs() {
  static memory_budget limit(256u << 20);
  configure_thread_logs(&limit, 16'384);
}

/// Runs `act` on a thread with a log, while all kinds of calls have native stacks.
native_notes with_log(std::function<void(thread_log&)> act, std::uint8_t kinds = every_kind) {
  prepare_logs();
  read_native_stacks(kinds, 1, nullptr);
  native_notes earlier;
  drain_all_logs(earlier);
  std::thread thread([&] { act(*this_thread_log()); });
  thread.join();
  native_notes seen;
  drain_all_logs(seen);
  read_native_stacks(0, 1, nullptr);
  return seen;
}

int volatile after = 0;

// Not merged with each other, and none ends with the call.
std::uintptr_t returns_to = 0;  // where the last call of inside() came from

__attribute__((noinline)) std::uint16_t inside(thread_log& log, std::uint32_t call) {
  returns_to = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  auto const number = stack_number(log, call_kind::kernel, static_cast<correlation_id>(call));
  after = after + 1;
  return number;
}
__attribute__((noinline)) std::uint16_t one_way(thread_log& log, std::uint32_t call) {
  auto const number = inside(log, call);
  after = after + 2;
  return number;
}
__attribute__((noinline)) std::uint16_t other_way(thread_log& log, std::uint32_t call) {
  auto const number = inside(log, call);
  after = after + 3;
  return number;
}

bool returns_there(std::vector<log_frame> const& frames, std::uintptr_t address) {
  return std::any_of(frames.begin(), frames.end(), [&](log_frame const& frame) {
    return frame.binary != 0 && frame.address + binaries().at(frame.binary).load_address == address;
  });
}

}  // namespace

TEST_CASE("a native stack has the functions that lead to the call, and its number again") {
  std::uint16_t first = 0, again = 0, other = 0;
  std::uintptr_t in_one = 0, in_other = 0;
  auto const seen = with_log([&](thread_log& log) {
    for (std::uint32_t i = 0; i < 2; ++i) (i == 0 ? first : again) = one_way(log, 1 + i);
    in_one = returns_to;
    other = other_way(log, 3);
    in_other = returns_to;
  });
  REQUIRE(first != 0);
  CHECK(again == first);
  REQUIRE(other != 0);
  CHECK(other != first);
  std::vector<log_frame> one, two;
  for (auto const& [key, frames] : seen.stacks) {
    if (key.second == first) one = frames;
    if (key.second == other) two = frames;
  }
  CHECK(returns_there(one, in_one));
  CHECK_FALSE(returns_there(one, in_other));
  CHECK(returns_there(two, in_other));
  CHECK_FALSE(returns_there(two, in_one));
}

TEST_CASE("calls of other kinds have no native stack") {
  auto const seen = with_log(
      [](thread_log& log) {
        CHECK(stack_number(log, call_kind::kernel, correlation_id{1}) == 0);
        CHECK(stack_number(log, call_kind::wait, correlation_id{2}, 1000) == 0);
        CHECK(stack_number(log, call_kind::allocation, correlation_id{3}) != 0);
        CHECK(stack_number(log, call_kind::wait, correlation_id{4}, 1'000'000'000'000) != 0);
      },
      static_cast<std::uint8_t>(call_kind::allocation) |
          static_cast<std::uint8_t>(call_kind::long_wait));
  CHECK(!seen.stacks.empty());
}

TEST_CASE("a copy that blocks has one stack, for its call and its launch") {
  with_log([](thread_log& log) {
    auto const as_call = stack_number(log, call_kind::copy, correlation_id{7});
    CHECK(as_call != 0);
    CHECK(stack_number(log, call_kind::copy, correlation_id{7}) == as_call);
  });
}

TEST_CASE("a thread gets no more native stacks than its limit") {
  std::size_t with_stack = 0;
  with_log([&](thread_log& log) {
    for (std::uint32_t i = 1; i <= 100'000; ++i) with_stack += one_way(log, i) != 0;
  });
  CHECK(with_stack >= 5);
  CHECK(with_stack < 2'000);
}

TEST_CASE("many threads read their native stacks while libraries come and go") {
  std::atomic<bool> ends{false};
  std::atomic<int> with_stack{0};
  prepare_logs();
  read_native_stacks(every_kind, 1, nullptr);
  std::thread loader([&] {
    while (!ends) {
      if (auto* const library = dlopen("libutil.so.1", RTLD_NOW)) dlclose(library);
      if (auto* const library = dlopen("libunwind-ptrace.so.0", RTLD_NOW)) dlclose(library);
    }
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < 64; ++i)
    threads.emplace_back([&] {
      for (std::uint32_t call = 1; call < 500; ++call)
        if (one_way(*this_thread_log(), call) != 0) ++with_stack;
    });
  for (auto& thread : threads) thread.join();
  ends = true;
  loader.join();
  read_native_stacks(0, 1, nullptr);
  CHECK(with_stack > 0);
}

namespace {

/// Calls itself, and then use().
__attribute__((noinline)) void deep(int frames, std::function<void()> const& use) {
  if (frames == 0)
    use();
  else
    deep(frames - 1, use);
  after = after + 1;
}

}  // namespace

TEST_CASE("what a native stack of 40 frames takes", "[.cost]") {
  auto const measured = [] {
    std::uint64_t first = 0, later = ~0ull;
    with_log([&](thread_log& log) {
      deep(30, [&] {
        for (std::uint32_t call = 1; call <= 15; ++call) {
          auto const begin = monotonic_ns();
          stack_number(log, call_kind::kernel, correlation_id{call});
          auto const took = monotonic_ns() - begin;
          if (call == 1) first = took;
          later = std::min(later, took);
        }
      });
    });
    return std::to_string(first) + " ns, later " + std::to_string(later) + " ns";
  };
  std::string text = "libgcc: first " + measured();
  read_native_stacks(every_kind, 1, nullptr);
  load_unwinder();
  WARN(text << "; libunwind: first " << measured());
}

TEST_CASE("binaries are found by address, with their files and build ids") {
  std::array<std::uintptr_t, 3> const addresses{
      reinterpret_cast<std::uintptr_t>(&returns_there),
      reinterpret_cast<std::uintptr_t>(&gnu_get_libc_version), 1};
  std::array<std::uint32_t, 3> numbers{};
  REQUIRE(binaries().find(addresses, numbers, count_libraries()));
  REQUIRE(numbers[0] != 0);
  REQUIRE(numbers[1] != 0);
  CHECK(numbers[2] == 0);
  CHECK(std::string(binaries().at(numbers[0]).path).find("stacks_test") != std::string::npos);
  CHECK(std::string(binaries().at(numbers[1]).path).find("libc.so") != std::string::npos);
  CHECK(binaries().at(numbers[1]).build_id_size == 20);
  CHECK(binaries().at(numbers[1]).begins_threads);
}
