// SPDX-License-Identifier: Apache-2.0
// Memory that may not be there is asked for before it is read.
#include "base/own_memory.hpp"

#include "support/catch.hpp"

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <pthread.h>
#include <string>
#include <sys/mman.h>
#include <thread>

using namespace gpuprof;

namespace {

constexpr std::size_t page = 4096;

/// Three pages, of which the last cannot be read.
struct pages_with_an_end {
  pages_with_an_end()
      : begin(static_cast<char*>(
            mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))),
        end(begin + 2 * page) {
    REQUIRE(mprotect(end, page, PROT_NONE) == 0);
  }
  ~pages_with_an_end() { munmap(begin, 3 * page); }
  char* begin;
  char* end;
};

}  // namespace

TEST_CASE("existing memory can be read and other memory cannot, exact to the last byte") {
  pages_with_an_end const memory;
  CHECK(can_read(memory.begin, 2 * page));
  CHECK(can_read(memory.end - 1, 1));
  CHECK_FALSE(can_read(memory.end - 1, 2));
  CHECK_FALSE(can_read(memory.end, 1));
  CHECK_FALSE(can_read(memory.begin, 2 * page + 1));
  CHECK(can_read(memory.end, 0));
}

TEST_CASE("invalid addresses cannot be read, and errno stays unchanged") {
  errno = 77;
  CHECK_FALSE(can_read(nullptr, 1));
  CHECK_FALSE(can_read(reinterpret_cast<void const*>(std::uintptr_t{16}), 8));
  CHECK_FALSE(can_read(reinterpret_cast<void const*>(~std::uintptr_t{0}), 2));
  CHECK_FALSE(can_read(reinterpret_cast<void const*>(std::uintptr_t{1} << 62), 1));
  CHECK_FALSE(read_own_text(reinterpret_cast<char const*>(std::uintptr_t{16}), 8).size());
  CHECK(errno == 77);
}

TEST_CASE("memory that was unmapped after the last check cannot be read") {
  auto memory = std::make_unique<pages_with_an_end>();
  auto* const begin = memory->begin;
  REQUIRE(can_read(begin, 16));
  memory.reset();
  CHECK_FALSE(can_read(begin, 16));
}

TEST_CASE("the stack of a thread can be read, but not the memory above it") {
  for (auto turn = 0; turn < 3; ++turn) {
    std::thread([] {
      char here[64] = {};
      CHECK(can_read(here, sizeof here));
      CHECK(can_read(here, sizeof here));  // known now
    }).join();
  }
  // Once more on a stack whose end is known. The thread sanitizer needs 900 kB of it.
  constexpr auto pages = std::size_t{320};
  auto above = true, inside = false;
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  auto* const memory = static_cast<char*>(mmap(nullptr, (pages + 4) * page, PROT_READ | PROT_WRITE,
                                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(mprotect(memory + pages * page, 4 * page, PROT_NONE) == 0);
  REQUIRE(pthread_attr_setstack(&attributes, memory, pages * page) == 0);
  struct question {
    char* end;
    bool* above;
    bool* inside;
  } asked{memory + pages * page, &above, &inside};
  pthread_t thread;
  REQUIRE(pthread_create(
              &thread, &attributes,
              [](void* given) -> void* {
                auto const& asks = *static_cast<question*>(given);
                for (auto turn = 0; turn < 2; ++turn) {
                  *asks.inside = can_read(asks.end - 8, 8);
                  *asks.above = can_read(asks.end - 4, 8) || can_read(asks.end, 1);
                }
                return nullptr;
              },
              &asked) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  munmap(memory, (pages + 4) * page);
  CHECK(inside);
  CHECK_FALSE(above);
}

TEST_CASE("a text has a length if it can be read up to its end") {
  pages_with_an_end const memory;
  std::memset(memory.begin, 'k', 2 * page);
  memory.end[-1] = '\0';
  CHECK(readable_length(memory.end - 4, 100) == 3);
  CHECK(readable_length(memory.begin, 3 * page) == 2 * page - 1);
  CHECK(readable_length(memory.begin, 10) == 10);
  CHECK(read_own_text(memory.end - 4, 100) == "kkk");
  memory.end[-1] = 'k';
  CHECK(readable_length(memory.end - 4, 100) == std::nullopt);
  CHECK(readable_length(memory.end - 4, 4) == 4);
  CHECK(readable_length(nullptr, 4) == std::nullopt);
}
