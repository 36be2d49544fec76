// SPDX-License-Identifier: Apache-2.0
// Logs: one a thread, passed on when drained, within the budget, never in a forked child.
#include "guest/nvtx/log_writer.hpp"
#include "support/catch.hpp"
#include "unit/nvtx/seen.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <pthread.h>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;

namespace {

std::size_t logs_made() {
  std::size_t count = 0;
  for (auto* log = all_thread_logs(); log != nullptr; log = log->next) ++count;
  return count;
}

std::uint64_t dropped_in_all_logs() {
  std::uint64_t all = 0;
  for (auto* log = all_thread_logs(); log != nullptr; log = log->next)
    all += log->counters.dropped_launches + log->counters.dropped_ranges;
  return all;
}

/// Threads that have run their part and go on living until this ends.
class crowd {
 public:
  crowd(int threads, std::function<void(int)> const& part) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    members_.resize(static_cast<std::size_t>(threads));
    for (; made_ < threads; ++made_) {
      auto& m = members_[static_cast<std::size_t>(made_)];
      m = {this, &part, made_, {}};
      if (pthread_create(&m.thread, &attributes, run_member, &m) != 0) break;
    }
    pthread_attr_destroy(&attributes);
    for (auto done = done_.load(); done != made_; done = done_.load()) done_.wait(done);
    if (made_ < threads) WARN("this machine allows for " << made_ << " threads");
  }
  /// How many there are: a container may allow for less.
  int size() const noexcept { return made_; }
  ~crowd() {
    may_end_ = true;
    may_end_.notify_all();
    for (int i = 0; i < made_; ++i)
      pthread_join(members_[static_cast<std::size_t>(i)].thread, nullptr);
  }
  crowd(crowd const&) = delete;
  crowd& operator=(crowd const&) = delete;

 private:
  struct member {
    crowd* of = nullptr;
    std::function<void(int)> const* part = nullptr;
    int number = 0;
    pthread_t thread{};
  };
  static void* run_member(void* self) {
    auto& m = *static_cast<member*>(self);
    (*m.part)(m.number);
    ++m.of->done_;
    m.of->done_.notify_all();
    m.of->may_end_.wait(false);
    return nullptr;
  }
  std::vector<member> members_;
  int made_ = 0;
  std::atomic<int> done_{0};
  std::atomic<bool> may_end_{false};
};

}  // namespace

TEST_CASE("a thread keeps its log, and has a thread index of its own") {
  thread_log *first = nullptr, *again = nullptr;
  auto here = thread_index{};
  run([&](thread_log& log) {
    first = &log;
    again = this_thread_log();
    here = log.index;
  });
  CHECK(first == again);
  auto there = thread_index{};
  run([&](thread_log& log) { there = log.index; });
  CHECK(here != there);
}

TEST_CASE("a log whose thread has ended is reused after it is drained") {
  run([](thread_log&) {});
  auto const made = logs_made();
  for (int i = 0; i < 50; ++i) run([](thread_log& log) { mark(log, named("m")); });
  CHECK(logs_made() == made);
}

TEST_CASE("a log that still holds entries is not reused") {
  configure_thread_logs(&budget(), ring_slots);
  seen found;
  drain_all_logs(found);
  log_is_recording = true;
  std::vector<thread_log*> used;
  for (int i = 0; i < 3; ++i) {
    std::thread([&] {
      used.push_back(this_thread_log());
      mark(*this_thread_log(), named("waiting"));
    }).join();
  }
  log_is_recording = false;
  CHECK(used[0] != used[1]);
  CHECK(used[1] != used[2]);
  CHECK(used[0] != used[2]);
  drain_all_logs(found);
  CHECK(found.marks.size() >= 3);
}

TEST_CASE("a reused log has no open ranges and gives new range ids") {
  range_id first{}, second{};
  run([&](thread_log& log) {
    push_range(log, named("never popped"));
    first = log.ranges.innermost();
  });
  auto const found = run([&](thread_log& log) {
    CHECK(log.ranges.size() == 0);
    push_range(log, named("fresh"));
    second = log.ranges.innermost();
    pop_range(log, {});
  });
  CHECK(first != second);
  CHECK(found.lines == lines{"begin fresh", "end fresh"});
}

TEST_CASE("every thread with a log is listed once, with its OS thread") {
  std::size_t cursor = 0;
  std::vector<thread_identity> all(4096);
  new_threads(cursor, all);
  thread_identity mine;
  run([&](thread_log& log) { mine = {log.index, log.os_thread}; });
  auto const count = new_threads(cursor, all);
  REQUIRE(count == 1);
  CHECK(all[0].thread == mine.thread);
  CHECK(all[0].os_thread == mine.os_thread);
  CHECK(mine.os_thread != static_cast<std::uint32_t>(getpid()));
  CHECK(new_threads(cursor, all) == 0);
}

TEST_CASE("ten thousand threads with only ranges fit the default limit, and lose nothing") {
#ifdef __SANITIZE_THREAD__
  constexpr int threads = 4'000;  // it knows no more than 8128
#else
  constexpr int threads = 10'000;
#endif
  configure_thread_logs(&budget(), ring_slots);
  seen found;
  drain_all_logs(found);
  found = {};
  auto const dropped = dropped_in_all_logs();
  log_is_recording = true;
  log_generation.fetch_add(1);
  std::size_t made = 0;
  {
    crowd all(threads, [](int) {
      auto* const log = this_thread_log();
      if (log == nullptr) return;
      push_range(*log, named("step"));
      push_range(*log, named("inner"));
      pop_range(*log, {});
      pop_range(*log, {});
    });
    made = static_cast<std::size_t>(all.size());
    REQUIRE(made >= 1000);
    CHECK(threads_without_log() == 0);
    CHECK(budget().used() < budget().limit() / 2);
    drain_all_logs(found);
  }
  log_is_recording = false;
  drain_all_logs(found);
  CHECK(dropped_in_all_logs() == dropped);
  CHECK(found.begins.size() == 2 * made);
  CHECK(found.ends.size() == 2 * made);
  release_ended_logs();
  CHECK(budget().used() < threads * std::size_t{4096} * 11 / 10);
}

TEST_CASE("a thousand launching threads fit the default limit, and lose nothing") {
  constexpr int threads = 1000, launches = 700;
  configure_thread_logs(&budget(), ring_slots);
  seen found;
  drain_all_logs(found);
  found = {};
  release_ended_logs();
  auto const before = budget().used();
  auto const dropped = dropped_in_all_logs();
  log_is_recording = true;
  {
    crowd all(threads, [](int which) {
      auto* const log = this_thread_log();
      if (log == nullptr) return;
      for (int i = 0; i < launches; ++i)
        write_launch(*log, 1, static_cast<correlation_id>(which * launches + i + 1), 0);
    });
    REQUIRE(all.size() == threads);
    CHECK(threads_without_log() == 0);
    CHECK(budget().used() > before);
    drain_all_logs(found);
  }
  log_is_recording = false;
  drain_all_logs(found);
  CHECK(dropped_in_all_logs() == dropped);
  CHECK(found.launches.size() == std::size_t{threads} * launches);
  std::set<std::uint32_t> different;
  for (auto const& l : found.launches) different.insert(raw(l.correlation));
  CHECK(different.size() == found.launches.size());
  release_ended_logs();
  CHECK(budget().used() <= before);
}

TEST_CASE("a log that has freed its memory works like a new one") {
  {
    crowd all(40, [](int) { push_range(*this_thread_log(), named("left open")); });
  }
  seen found;
  drain_all_logs(found);
  release_ended_logs();
  auto const lean = budget().used();
  auto const made = logs_made();
  for (int i = 0; i < 3; ++i) {
    auto const again = run([](thread_log& log) {
      CHECK(log.ranges.size() == 0);
      for (std::uint32_t c = 1; c <= 700; ++c) write_launch(log, 1, correlation_id{c}, 0);
      push_range(log, named("fresh"));
      pop_range(log, {});
    });
    CHECK(again.launches.size() == 700);
    CHECK(again.ends.size() == 1);
    release_ended_logs();
  }
  CHECK(logs_made() == made);
  CHECK(budget().used() <= lean + 3 * 4096);
}

TEST_CASE("a forked child has no log, and its parent goes on") {
  run([](thread_log& log) {
    auto const child = fork();
    if (child == 0) _exit(this_thread_log() == nullptr ? 7 : 8);
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 7);
    CHECK(this_thread_log() == &log);
  });
}

TEST_CASE("waking the drain thread ends its sleep at once, and once") {
  using namespace std::chrono_literals;
  while (wait_for_wake(0ns)) {
  }
  CHECK_FALSE(wait_for_wake(1ms));
  wake_drain();
  wake_drain();
  CHECK(wait_for_wake(10s));
  CHECK_FALSE(wait_for_wake(0ns));
  std::thread waker([] { wake_drain(); });
  CHECK(wait_for_wake(10s));
  waker.join();
}

TEST_CASE("a ring more than half full wakes the drain thread") {
  using namespace std::chrono_literals;
  while (wait_for_wake(0ns)) {
  }
  run([](thread_log& log) {
    for (std::size_t i = 0; i < ring_slots / 2; ++i) write_launch(log, 1, correlation_id{1}, 0);
    CHECK_FALSE(wait_for_wake(0ns));
    write_launch(log, 1, correlation_id{1}, 0);
    CHECK(wait_for_wake(0ns));
  });
}

TEST_CASE("a note without room is not a lost record, unless it stands for one") {
  run([](thread_log& log) {
    while (write_launch(log, 1, correlation_id{1}, 0)) {
    }
    auto const notes = log.counters.dropped_launches.load();
    CHECK(log.counters.dropped_records == 0);
    CHECK_FALSE(write_unrecorded_launch(log, 1, correlation_id{2}, {}));
    CHECK(log.counters.dropped_records == 1);
    CHECK(log.counters.dropped_launches == notes);
  });
}

TEST_CASE("a writer and the drain thread at the same time lose nothing uncounted") {
  configure_thread_logs(&budget(), ring_slots);
  seen found;
  drain_all_logs(found);
  found = {};
  log_is_recording = true;
  std::atomic<bool> done{false};
  std::uint64_t dropped = 0;
  std::thread writer([&] {
    auto& log = *this_thread_log();
    auto const before = log.counters.dropped_launches.load() + log.counters.dropped_ranges.load();
    for (std::uint32_t i = 1; i <= 100'000; ++i) {
      push_range(log, named("r"));
      write_launch(log, read_ticks(), correlation_id{i}, 0);
      pop_range(log, {});
    }
    dropped = log.counters.dropped_launches + log.counters.dropped_ranges - before;
    done = true;
  });
  while (!done) drain_all_logs(found);
  writer.join();
  log_is_recording = false;
  drain_all_logs(found);
  CHECK(found.begins.size() == found.ends.size());
  CHECK(found.begins.size() + found.launches.size() + dropped == 200'000);
  CHECK(std::is_sorted(found.launches.begin(), found.launches.end(),
                       [](auto const& a, auto const& b) { return a.correlation < b.correlation; }));
}
