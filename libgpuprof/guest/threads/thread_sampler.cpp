// SPDX-License-Identifier: Apache-2.0
#include "guest/threads/thread_sampler.hpp"

#include "base/own_calls.hpp"
#include "base/own_descriptor.hpp"
#include "base/quiet_thread.hpp"
#include "base/time.hpp"
#include "guest/nvtx/log_writer.hpp"
#include "guest/nvtx/thread_log.hpp"
#include "guest/nvtx/ticks.hpp"
#include "guest/stacks/child_python.hpp"
#include "guest/stacks/python_stack.hpp"
#include "guest/stacks/python_threads.hpp"
#include "guest/threads/thread_status.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <pthread.h>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <unordered_set>
#include <vector>

namespace gpuprof::guest {
namespace {

constexpr std::size_t most_watched = 16, most_children = 16,
                      most_left_out = 1000;  // are told apart
constexpr std::uint64_t look_every_ns = 10'000'000, longest_row_ns = 200'000'000,
                        children_every_ns = 250'000'000;

/// The part of a core that looking may take.
double most_of_a_core() noexcept {
  constexpr unsigned few_cores = 4;  // where it is likely to be taken from the program
  return std::thread::hardware_concurrency() < few_cores ? 0.003 : 0.01;
}

std::atomic<std::uint64_t> spent_ns{0}, rows_lost{0}, threads_left_out{0};

std::uint64_t own_cpu_ns() noexcept {
  timespec cpu{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
  return static_cast<std::uint64_t>(cpu.tv_sec) * ns_per_second +
         static_cast<std::uint64_t>(cpu.tv_nsec);
}

/// One thread of the program, or the main thread of a child process, and what was last seen of it,
/// which is not written yet.
struct watched_thread {
  /// `is_child`: as in thread_status.
  explicit watched_thread(std::uint32_t thread, bool is_child = false) noexcept
      : os_thread(thread), status(thread, is_child) {}

  std::uint32_t os_thread;
  thread_status status;
  thread_status::times at_last_look;
  bool was_looked_at = false;
  seen_thread seen;  // looks = 0: nothing
  std::uint64_t began_ns = 0;

  void write(thread_log& log) noexcept {
    if (seen.looks != 0 && !write_sample(log, seen))
      rows_lost.fetch_add(1, std::memory_order_relaxed);
    seen = {};
  }
};

/// The main thread of a child process.
struct watched_child : watched_thread {
  watched_child(std::uint32_t process, std::uint64_t now) noexcept
      : watched_thread(process, true), found_at_ns(now) {}

  std::uint64_t found_at_ns;
  bool python_was_searched = false;
  std::unique_ptr<child_python> python;
};

/// Where the Python stack of a thread is to be found.
struct python_of_thread {
  python_runtime const* runtime = nullptr;  // null: it has none
  python_threads* threads = nullptr;
  std::uint32_t child = 0;  // the child process; 0: this process
};

class sampler {
 public:
  explicit sampler(python_runtime const* python) {
    if (python != nullptr) {
      python_ = python;
      states_.emplace(*python);
    }
  }

  void look(thread_log& log) {
    find_threads();
    python_of_thread const own{python_, states_ ? &*states_ : nullptr};
    if (states_) states_->look_again();
    auto const gone = [&](auto const& thread) { return !look_at(*thread, own, log); };
    watched_.erase(std::remove_if(watched_.begin(), watched_.end(), gone), watched_.end());
    find_children();
    look_at_next_child(log);
  }
  void end(thread_log& log) noexcept {
    auto const end_all = [&](auto const& threads) {
      for (auto const& thread : threads) {
        thread->write(log);
        thread->was_looked_at = false;
      }
    };
    end_all(watched_);
    end_all(children_);
  }

 private:
  void find_threads() {
    if (!has_main_thread_) watch(static_cast<std::uint32_t>(getpid()));
    has_main_thread_ = true;
    std::array<thread_identity, 16> fresh;
    while (auto const count = new_threads(cursor_, fresh))
      for (auto const& thread : std::span(fresh).first(count)) watch(thread.os_thread);
  }
  void watch(std::uint32_t os_thread) {
    if (is_new(os_thread, watched_, most_watched))
      watched_.push_back(std::make_unique<watched_thread>(os_thread));
  }
  template <class Thread>
  bool is_new(std::uint32_t os_thread, std::vector<std::unique_ptr<Thread>> const& known,
              std::size_t most) {
    auto const is_it = [&](auto const& one) { return one->os_thread == os_thread; };
    if (std::any_of(known.begin(), known.end(), is_it)) return false;
    if (known.size() < most && !descriptors_are_scarce()) return true;
    if (left_out_.size() < most_left_out && left_out_.insert(os_thread).second)
      threads_left_out.fetch_add(1, std::memory_order_relaxed);
    return false;
  }

  /// Those that a watched thread or the main thread of a child has started. A process may become
  /// another program right after it was forked, so its Python is searched a while later.
  void find_children() {
    auto const now = monotonic_ns();
    if (now < children_found_at_ns_ + children_every_ns) return;
    children_found_at_ns_ = now;
    std::vector<std::uint32_t> started;
    auto const ask = [&](std::uint32_t os_thread, bool is_child) {
      std::array<std::uint32_t, most_children> some;
      auto const found = children_of_thread(os_thread, is_child, some);
      started.insert(started.end(), found.begin(), found.end());
    };
    for (auto const& thread : watched_) ask(thread->os_thread, false);
    for (auto const& child : children_) ask(child->os_thread, true);
    for (auto const process : started)
      if (is_new(process, children_, most_children))
        children_.push_back(std::make_unique<watched_child>(process, now));
    for (auto const& child : children_)
      if (python_ != nullptr && !child->python_was_searched && child->found_at_ns != now) {
        child->python = find_python_of_child(*python_, child->os_thread);
        child->python_was_searched = true;
      }
  }
  /// In turns: many loader processes cost no more than one.
  void look_at_next_child(thread_log& log) {
    if (children_.empty()) return;
    next_child_ = (next_child_ + 1) % children_.size();
    auto& child = *children_[next_child_];
    python_of_thread of_child{.child = child.os_thread};
    if (child.python) {
      child.python->threads.look_again();
      of_child.runtime = &child.python->runtime;
      of_child.threads = &child.python->threads;
    }
    if (!look_at(child, of_child, log))
      children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(next_child_));
  }

  /// Returns false if the thread has ended.
  bool look_at(watched_thread& thread, python_of_thread const& python, thread_log& log) {
    thread_status::times now;
    if (!thread.status.read_times(now)) {
      thread.write(log);
      return false;
    }
    auto const before = thread.was_looked_at ? thread.at_last_look : now;
    auto const has_moved = !thread.was_looked_at || now != before;
    thread.at_last_look = now;
    thread.was_looked_at = true;
    // The time of a thread that is on a core is not always up to date.
    if (has_moved || thread.seen.looks == 0 || thread.seen.state == cpu_state::running)
      see(thread, python, log);
    ++thread.seen.looks;
    thread.seen.more.last_look = read_ticks();
    thread.seen.more.on_core_ns += now.on_core_ns - before.on_core_ns;
    thread.seen.more.wanted_core_ns += now.wanted_core_ns - before.wanted_core_ns;
    return true;
  }

  /// Ends the row of the thread if it now does something else, and begins another.
  void see(watched_thread& thread, python_of_thread const& python, thread_log& log) {
    auto const waits = thread.status.read_state();
    auto state = waits.state;
    std::uint16_t stack = 0, holder = 0;
    if (python.threads != nullptr) {
      if (state == cpu_state::lock && python.threads->is_gil(waits.futex)) {
        state = cpu_state::gil;
        holder =
            python_stack_of_other(*python.runtime, log, python.threads->gil_holder(), python.child);
      }
      if (auto const* const of_it = python.threads->state_of(thread.os_thread))
        stack = python_stack_of_other(*python.runtime, log, of_it, python.child);
    }
    auto const time = monotonic_ns();
    auto& seen = thread.seen;
    if (seen.looks != 0 && seen.state == state && seen.stack == stack &&
        seen.more.holder == holder && time - thread.began_ns < longest_row_ns)
      return;
    thread.write(log);
    seen = {.os_thread = thread.os_thread,
            .state = state,
            .looks = 0,
            .first_look = read_ticks(),
            .stack = stack,
            .more = {}};
    seen.more.holder = holder;
    seen.more.is_child = python.child != 0;
    thread.began_ns = time;
  }

  python_runtime const* python_ = nullptr;
  std::optional<python_threads> states_;
  std::vector<std::unique_ptr<watched_thread>> watched_;
  std::vector<std::unique_ptr<watched_child>> children_;
  std::unordered_set<std::uint32_t> left_out_;
  std::size_t cursor_ = 0, next_child_ = 0;
  std::uint64_t children_found_at_ns_ = 0;
  bool has_main_thread_ = false;
};

/// The pauses differ, so that a loop that takes as long is not always seen at the same place, and
/// become longer if looking takes too much of a core.
class look_times {
 public:
  std::uint64_t next_pause_ns() noexcept {
    auto const cpu = own_cpu_ns();
    auto const each = cpu - std::exchange(cpu_before_, cpu);
    spent_ns.store(cpu, std::memory_order_relaxed);
    mean_ns_ += (static_cast<double>(each) - mean_ns_) / 16;
    auto const pause = std::max(static_cast<double>(look_every_ns), mean_ns_ / most_of_a_core_);
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    auto const part = 0.75 + 0.5 * static_cast<double>(random_ % 1024) / 1024;
    return static_cast<std::uint64_t>(pause * part);
  }

 private:
  std::uint64_t cpu_before_ = 0, random_ = 0x2545F4914F6CDD1Dull;
  double mean_ns_ = 0;
  double const most_of_a_core_ = most_of_a_core();
};

/// Never returns, as all threads of gpuprof: the process may be ending.
void* sample(void* python) {
  sampler all(static_cast<python_runtime const*>(python));
  look_times times;
  for (;;) {
    log_is_recording.wait(false);
    auto* const log = this_thread_log();
    while (log_is_recording.load(std::memory_order_acquire)) {
      try {
        if (log != nullptr) all.look(*log);
      } catch (std::bad_alloc const&) {
        rows_lost.fetch_add(1, std::memory_order_relaxed);
      }
      timespec const pause{
          0, static_cast<long>(std::min<std::uint64_t>(times.next_pause_ns(), 999'999'999))};
      nanosleep(&pause, nullptr);
    }
    if (log != nullptr) all.end(*log);
  }
}

}  // namespace

int sample_threads(python_runtime const* python) noexcept {
  static std::atomic<bool> is_started{false};
  if (is_started.exchange(true)) return 0;
  pthread_t thread;
  auto const error =
      start_quiet_thread(thread, "gpuprof threads", 0, sample, const_cast<python_runtime*>(python));
  if (error == 0) pthread_detach(thread);
  return error;
}

void report_thread_sampler(ledger& to) {
  to.add("cost.sampler_cpu_ns", spent_ns);
  to.add("lost.thread_samples", rows_lost);
  to.add("note.threads_not_sampled", threads_left_out);
}

}  // namespace gpuprof::guest
