// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <dlfcn.h>
#include <pthread.h>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

extern "C" {
int tested_find_object(void* address, dl_find_object* found);
std::uint32_t tested_arc4random();
int tested_clockwait(pthread_cond_t*, pthread_mutex_t*, clockid_t, timespec const*);
extern char tested_single_threaded;
}

namespace {

timespec after_ms(clockid_t clock, long ms) {
  timespec now{};
  clock_gettime(clock, &now);
  auto const ns = now.tv_nsec + ms % 1000 * 1'000'000;
  return {now.tv_sec + ms / 1000 + ns / 1'000'000'000, ns % 1'000'000'000};
}

bool is_past(clockid_t clock, timespec const& moment) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec > moment.tv_sec ||
         (now.tv_sec == moment.tv_sec && now.tv_nsec >= moment.tv_nsec);
}

struct waiting {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
};

void throw_through(int depth) {
  std::string const on_the_way(100, 'x');  // has a destructor to run
  if (depth == 0) throw std::runtime_error(on_the_way);
  throw_through(depth - 1);
}

}  // namespace

TEST_CASE("an address is found in the same object as by glibc itself") {
  auto* const of_glibc = reinterpret_cast<int (*)(void*, dl_find_object*)>(
      dlvsym(RTLD_DEFAULT, "_dl_find_object", "GLIBC_2.35"));
  if (of_glibc == nullptr) {
    WARN("this glibc has no _dl_find_object to compare with");
    return;
  }
  auto* const other = dlopen("libresolv.so.2", RTLD_NOW);
  REQUIRE(other != nullptr);
  int on_stack = 0;
  auto* const on_heap = std::malloc(1);
  for (void* const address :
       {reinterpret_cast<void*>(&throw_through), reinterpret_cast<void*>(&std::malloc),
        reinterpret_cast<void*>(&dlopen), dlsym(other, "ns_initparse"),
        static_cast<void*>(&on_stack), on_heap, static_cast<void*>(nullptr)}) {
    dl_find_object expected{}, found{};
    auto const answer = of_glibc(address, &expected);
    CHECK(tested_find_object(address, &found) == answer);
    CHECK(found.dlfo_eh_frame == expected.dlfo_eh_frame);
    CHECK((answer != 0 || found.dlfo_map_start <= address));
    CHECK((answer != 0 || found.dlfo_map_end > address));
  }
  std::free(on_heap);
}

TEST_CASE("exceptions find their handlers while other threads load libraries") {
  std::atomic<bool> done{false};
  std::thread loading([&] {
    while (!done.load())
      if (auto* const library = dlopen("libresolv.so.2", RTLD_NOW)) dlclose(library);
  });
  std::atomic<int> caught{0};
  std::vector<std::thread> throwing;
  for (int i = 0; i < 64; ++i)
    throwing.emplace_back([&] {
      for (int k = 0; k < 100; ++k) try {
          throw_through(k % 10);
        } catch (std::runtime_error const&) {
          ++caught;
        }
    });
  for (auto& thread : throwing) thread.join();
  done = true;
  loading.join();
  CHECK(caught.load() == 6400);
}

TEST_CASE("a wait until a moment of the monotonic clock does not end before it") {
  waiting w;
  pthread_mutex_lock(&w.mutex);
  auto const until = after_ms(CLOCK_MONOTONIC, 20);
  int result = 0;
  while (result == 0) result = tested_clockwait(&w.condition, &w.mutex, CLOCK_MONOTONIC, &until);
  CHECK(result == ETIMEDOUT);
  CHECK(is_past(CLOCK_MONOTONIC, until));
  pthread_mutex_unlock(&w.mutex);
}

TEST_CASE("a wait until a moment that has passed ends at once and has timed out") {
  waiting w;
  pthread_mutex_lock(&w.mutex);
  for (auto const clock : {CLOCK_MONOTONIC, CLOCK_REALTIME}) {
    timespec const until{1, 0};
    CHECK(tested_clockwait(&w.condition, &w.mutex, clock, &until) == ETIMEDOUT);
  }
  pthread_mutex_unlock(&w.mutex);
}

TEST_CASE("a wait of hours checks its clock each second, so setting the clock delays it little") {
  waiting w;
  pthread_mutex_lock(&w.mutex);
  auto const until = after_ms(CLOCK_MONOTONIC, 3'600'000);
  CHECK(tested_clockwait(&w.condition, &w.mutex, CLOCK_MONOTONIC, &until) == 0);
  pthread_mutex_unlock(&w.mutex);
}

TEST_CASE("a wait ends when it is woken") {
  waiting w;
  bool woken = false;
  pthread_mutex_lock(&w.mutex);
  std::thread waking([&] {
    pthread_mutex_lock(&w.mutex);  // the other waits now
    woken = true;
    pthread_cond_signal(&w.condition);
    pthread_mutex_unlock(&w.mutex);
  });
  auto const until = after_ms(CLOCK_MONOTONIC, 600'000);
  int result = 0;
  while (!woken && result == 0)
    result = tested_clockwait(&w.condition, &w.mutex, CLOCK_MONOTONIC, &until);
  CHECK(result == 0);
  pthread_mutex_unlock(&w.mutex);
  waking.join();
}

TEST_CASE("random numbers differ and leave errno alone") {
  errno = E2BIG;
  std::set<std::uint32_t> numbers;
  for (int i = 0; i < 100; ++i) numbers.insert(tested_arc4random());
  CHECK(errno == E2BIG);
  CHECK(numbers.size() > 90);
}

TEST_CASE("every process counts as having several threads, so all counts are atomic") {
  CHECK(tested_single_threaded == 0);
}
