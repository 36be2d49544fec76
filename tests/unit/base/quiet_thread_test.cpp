// SPDX-License-Identifier: Apache-2.0
// What a thread of ours takes over from the thread of the program that makes it, and what our
// arithmetic leaves behind on a thread of the program.
#include "base/quiet_thread.hpp"

#include "base/own_arithmetic.hpp"
#include "support/catch.hpp"

#include <cfenv>
#include <cstring>
#include <limits>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

using namespace gpuprof;

namespace {

struct inherited {
  int traps = 0, policy = -1, nice = 0;
  cpu_set_t cpus{};
};

int nice_here() {
  return getpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)));
}

inherited of_this_thread() {
  inherited now{.traps = fegetexcept(), .policy = sched_getscheduler(0), .nice = nice_here()};
  sched_getaffinity(0, sizeof now.cpus, &now.cpus);
  return now;
}

/// What a thread of ours has whose creator first calls `prepare`.
template <class Prepare>
inherited made_by(Prepare prepare) {
  inherited found;
  std::thread([&] {
    prepare();
    pthread_t thread;
    auto const look = [](void* to) -> void* {
      *static_cast<inherited*>(to) = of_this_thread();
      return nullptr;
    };
    if (start_quiet_thread(thread, "quiet", 0, look, &found) == 0) pthread_join(thread, nullptr);
  }).join();
  return found;
}

/// The last of the CPUs that this process may use.
cpu_set_t one_cpu() {
  auto const all = of_this_thread().cpus;
  auto last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(last, &all)) --last;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(last, &one);
  return one;
}

}  // namespace

TEST_CASE("an own thread traps no floating-point exception, even if its creator does") {
  CHECK(made_by([] { feenableexcept(FE_DIVBYZERO | FE_INVALID); }).traps == 0);
}

TEST_CASE("an own thread may use all CPUs of the process, even if its creator is pinned to one") {
  remember_cpus_of_process();
  auto const all = of_this_thread().cpus;
  if (CPU_COUNT(&all) < 2) return;
  auto const found = made_by([] {
    auto const one = one_cpu();
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  });
  CHECK(CPU_EQUAL(&found.cpus, &all));
}

TEST_CASE("an own thread has the CPUs of the start, even if the main thread is pinned too") {
  remember_cpus_of_process();
  auto const all = of_this_thread().cpus;
  if (CPU_COUNT(&all) < 2) return;
  auto const one = one_cpu();
  REQUIRE(sched_setaffinity(getpid(), sizeof one, &one) == 0);
  auto const found = made_by([] {});
  REQUIRE(sched_setaffinity(getpid(), sizeof all, &all) == 0);
  CHECK(CPU_EQUAL(&found.cpus, &all));
}

TEST_CASE("an own thread has the default policy and no raised priority, whatever its creator has") {
  auto may_be_raised = true;
  auto const of_real_time = made_by([&] {
    sched_param const raised{.sched_priority = 1};
    may_be_raised = sched_setscheduler(0, SCHED_FIFO, &raised) == 0;
  });
  auto const of_hurried = made_by([&] {
    auto const thread = static_cast<id_t>(syscall(SYS_gettid));
    may_be_raised = setpriority(PRIO_PROCESS, thread, -5) == 0 && may_be_raised;
  });
  if (!may_be_raised) {
    WARN("this user may not raise priorities");
    return;
  }
  CHECK(of_real_time.policy == SCHED_OTHER);
  CHECK(of_hurried.nice >= 0);
}

TEST_CASE("an own thread keeps the low priority of its creator") {
  auto const found =
      made_by([] { setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), 19); });
  CHECK(found.nice == 19);
}

TEST_CASE("own arithmetic traps nothing and keeps traps, rounding and flags of the program") {
  std::fenv_t before;
  std::fegetenv(&before);
  std::feclearexcept(FE_ALL_EXCEPT);
  std::feraiseexcept(FE_UNDERFLOW);
  std::fesetround(FE_UPWARD);
  feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_INEXACT);
  auto const compute = [] {
    double const volatile none = 0, one = 1, three = 3;
    double const volatile results[] = {one / none, none / none, one / three};
    return results[2];
  };
  double third = 0;
  {
    own_arithmetic const exact;
    third = compute();
  }
  long double const volatile odd = std::numeric_limits<long double>::signaling_NaN();
  {
    whole_environment const exact;
    double const volatile converted = static_cast<double>(odd);
    (void)converted;
  }
  auto const traps = fegetexcept(), flags = std::fetestexcept(FE_ALL_EXCEPT),
             rounding = std::fegetround();
  std::fesetenv(&before);
  CHECK(third == 1.0 / 3.0);
  CHECK(traps == (FE_DIVBYZERO | FE_INVALID | FE_INEXACT));
  CHECK(flags == FE_UNDERFLOW);
  CHECK(rounding == FE_UPWARD);
}
