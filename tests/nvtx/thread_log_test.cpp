// Logs: one a thread, passed on when drained, within the budget, never in a forked child.
#include "collect/log_writer.hpp"
#include "seen.hpp"
#include "support/catch.hpp"

#include <chrono>
#include <sys/wait.h>
#include <unistd.h>

using namespace gpuprof;
using namespace gpuprof::test;

namespace {

std::size_t logs_made() {
  std::size_t count = 0;
  for (auto* log = all_thread_logs(); log != nullptr; log = log->next) ++count;
  return count;
}

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

TEST_CASE("a log whose thread has ended passes on once it is drained") {
  run([](thread_log&) {});
  auto const made = logs_made();
  for (int i = 0; i < 50; ++i) run([](thread_log& log) { mark(log, named("m")); });
  CHECK(logs_made() == made);
}

TEST_CASE("a log that still holds entries is not passed on") {
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

TEST_CASE("a log passed on has no open ranges and gives new range ids") {
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

TEST_CASE("ring memory is charged when first written to, not before") {
  run([](thread_log&) {});
  std::atomic<bool> may_end{false};
  std::atomic<int> waiting{0};
  // Enough threads at once that new logs must be made.
  std::vector<std::thread> threads;
  auto const made = logs_made();
  auto const before = budget().used();
  for (std::size_t i = 0; i < made + 2; ++i) {
    threads.emplace_back([&] {
      this_thread_log();
      ++waiting;
      while (!may_end) std::this_thread::yield();
    });
  }
  while (waiting < static_cast<int>(made + 2)) std::this_thread::yield();
  auto const headers = budget().used() - before;
  CHECK(headers < 2 * (ring_slots * sizeof(log_entry) + sizeof(thread_log)) * 2);
  may_end = true;
  for (auto& t : threads) t.join();
  CHECK(logs_made() >= made + 1);
  CHECK(budget().used() == before + headers);
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

TEST_CASE("a writer and the drain thread at once lose nothing that was not counted") {
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
