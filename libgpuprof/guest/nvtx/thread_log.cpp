// SPDX-License-Identifier: Apache-2.0
// Makes a log for each thread that needs one, keeps them in a list, and reuses logs of ended
// threads.
#include "guest/nvtx/thread_log.hpp"

#include "base/fork_guard.hpp"
#include "base/own_calls.hpp"
#include "base/process.hpp"
#include "guest/nvtx/labels.hpp"
#include "guest/nvtx/name_registry.hpp"
#include "guest/nvtx/ranges.hpp"
#include "guest/nvtx/ticks.hpp"

#include <climits>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <ctime>
#include <deque>
#include <linux/futex.h>
#include <memory>
#include <mutex>
#include <new>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace gpuprof::guest {
namespace detail {

constinit thread_local thread_log* current_log = nullptr;

}  // namespace detail

namespace {

enum class thread_state : std::uint8_t { fresh, refused, going_down };
constinit thread_local thread_state state __attribute__((tls_model("initial-exec"))) =
    thread_state::fresh;

std::atomic<memory_budget*> budget{nullptr};
std::atomic<std::size_t> max_ring_slots{0};
std::atomic<thread_log*> newest_log{nullptr};
std::atomic<std::uint64_t> refused_threads{0};
std::atomic<void (*)() noexcept> configure_in_child{nullptr};
// 1: the drain thread was woken but has not run yet. A plain futex word, since std::atomic::wait
// has no timeout.
std::atomic<std::uint32_t> drain_wanted{0};
static_assert(sizeof drain_wanted == 4);
bool has_parents_ranges = false;  // used only by configure_thread_logs()
// Approximate number of ended logs, so that new threads search the list only if it can help.
std::atomic<int> ended_logs{0};

void leave_log(thread_log& log) noexcept {
  log.thread_ended.store(true, std::memory_order_release);
  ended_logs.fetch_add(1, std::memory_order_relaxed);
}

// Runs after the destructors of thread_local objects, so ranges in those still have their log.
void end_of_thread(void* log) noexcept {
  if (!is_forked_child()) {
    close_ranges(*static_cast<thread_log*>(log));
    static_cast<thread_log*>(log)->ranges.clear();
  }
  detail::current_log = nullptr;
  state = thread_state::going_down;
  leave_log(*static_cast<thread_log*>(log));
}

bool thread_end_is_watched = false;
pthread_key_t thread_end_key;

/// All threads that ever had a log. Never destroyed.
struct thread_directory {
  std::mutex mutex;  // protects everything below
  std::deque<thread_identity> threads;
  std::uint32_t last_index = 0;
  std::size_t of_parent = 0;  // the first entries that belong to the parent process
};
thread_directory& directory() {
  static auto* const instance = new thread_directory;
  return *instance;
}

// Maximum number of threads listed for new_threads(). Later threads still get an index.
constexpr std::size_t max_threads_listed = 1u << 20;

thread_index enter_in_directory(std::uint32_t os_thread) {
  auto& all = directory();
  fork_guard const whole;
  std::lock_guard const lock(all.mutex);
  auto const index = static_cast<thread_index>(++all.last_index);
  if (!is_own_thread(os_thread) && all.threads.size() < max_threads_listed)
    all.threads.push_back({index, os_thread});
  return index;
}

bool is_configured() noexcept {
  if (budget.load(std::memory_order_acquire) != nullptr) return true;
  auto* const configure = configure_in_child.load(std::memory_order_acquire);
  if (configure != nullptr) configure();
  return budget.load(std::memory_order_acquire) != nullptr;
}

/// Calls use(log) for logs whose thread has ended and whose entries have all been read, until it
/// returns true. That log is then taken by the caller. No other thread uses a log during its call.
template <class Use>
thread_log* take_ended_log(Use use) noexcept {
  if (ended_logs.load(std::memory_order_relaxed) <= 0) return nullptr;
  for (auto* log = newest_log.load(std::memory_order_acquire); log != nullptr; log = log->next) {
    auto ended = true;
    if (!log->thread_ended.load(std::memory_order_relaxed)) continue;
    if (!log->thread_ended.compare_exchange_strong(ended, false, std::memory_order_acquire)) {
      continue;
    }
    ended_logs.fetch_sub(1, std::memory_order_relaxed);
    if (log->ring.drained() && use(*log)) return log;
    leave_log(*log);
  }
  return nullptr;
}

constexpr std::size_t page = 4096;
constexpr std::size_t whole_pages(std::size_t bytes) {
  return (bytes + page - 1) / page * page;
}

// One mapping holds a log and the first slots of its ring. A thread touches three pages of it: the
// log itself, its ranges and its ring. Two more are touched if ranges are nested more than 50 deep.
constexpr std::size_t header_bytes = whole_pages(sizeof(thread_log));
constexpr std::size_t first_slots = page / sizeof(log_entry);
constexpr std::size_t mapped_bytes = header_bytes + page;
constexpr std::size_t kept_bytes = page, used_bytes = 3 * page;

thread_log* map_new_log() noexcept {
  auto* const limit = budget.load(std::memory_order_acquire);
  if (!limit->reserve(used_bytes)) return nullptr;
  void* const memory =
      mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    limit->release(used_bytes);
    return nullptr;
  }
  // Zero bytes are a valid log_entry, so the slots need no constructor, which would touch them.
  auto* const first = reinterpret_cast<log_entry*>(static_cast<std::byte*>(memory) + header_bytes);
  auto* const log = new (memory) thread_log({first, first_slots}, max_ring_slots.load(), *limit);
  log->next = newest_log.load(std::memory_order_relaxed);
  while (!newest_log.compare_exchange_weak(log->next, log, std::memory_order_release,
                                           std::memory_order_relaxed)) {
  }
  return log;
}

bool make_usable(thread_log& log) noexcept {
  if (!log.is_lean) return true;
  auto& limit = *budget.load(std::memory_order_acquire);
  if (!limit.reserve(used_bytes - kept_bytes)) return false;
  std::construct_at(&log.ranges, limit);  // its memory was released
  log.is_lean = false;
  return true;
}

void make_lean(thread_log& log) noexcept {
  log.names.clear();
  log.stack_memory.release();
  log.ranges.clear();
  madvise(reinterpret_cast<std::byte*>(&log) + kept_bytes, mapped_bytes - kept_bytes,
          MADV_DONTNEED);
  budget.load(std::memory_order_acquire)->release(used_bytes - kept_bytes);
  log.is_lean = true;
}

void hand_to_this_thread(thread_log& log) {
  log.os_thread = os_thread_id();
  log.index = enter_in_directory(log.os_thread);
  log.ranges.clear();
  log.caught_up_with = 0;
  log.owed_ends = 0;
  log.steps = 0;
  log.around_steps = {};
  log.stack_memory.release();
}

}  // namespace

namespace detail {

thread_log* make_thread_log() noexcept {
  if (state != thread_state::fresh || is_forked_child()) return nullptr;
  auto const saved_errno = errno;
  if (!is_configured()) {
    errno = saved_errno;
    return nullptr;
  }
  auto* log = take_ended_log(make_usable);
  if (log == nullptr) log = map_new_log();
  try {
    if (log != nullptr) hand_to_this_thread(*log);
  } catch (...) {  // out of memory for the directory
    leave_log(*log);
    log = nullptr;
  }
  if (log == nullptr) {
    state = thread_state::refused;
    refused_threads.fetch_add(1, std::memory_order_relaxed);
  } else {
    if (thread_end_is_watched) pthread_setspecific(thread_end_key, log);
    current_log = log;
  }
  errno = saved_errno;
  return log;
}

}  // namespace detail

namespace {

// The child has only this thread. All logs and their entries in the directory belong to the parent.
// This function does not allocate or free memory: any code may have called fork().
void begin_child() noexcept {
  detail::current_log = nullptr;
  if (is_forked_child()) return;
  log_is_recording.store(false);
  newest_log.store(nullptr);
  ended_logs.store(0);
  budget.store(nullptr);
  refused_threads.store(0);
  drain_wanted.store(0);
  has_parents_ranges = true;
  directory().of_parent = directory().threads.size();
  state = thread_state::fresh;
  if (thread_end_is_watched) pthread_setspecific(thread_end_key, nullptr);
}

void prepare_once() {
  watch_process_life();
  // Made here, so that no child finds them half made.
  directory();
  names();
  labels();
  domains();
  run_in_children(begin_child);
  thread_end_is_watched = pthread_key_create(&thread_end_key, end_of_thread) == 0;
  begin_ticks();
}

}  // namespace

void configure_thread_logs(memory_budget* limit, std::size_t slots) {
  static bool const prepared = [] {  // a second caller waits for the first
    prepare_once();
    return true;
  }();
  (void)prepared;
  if (budget.load() != nullptr) return;
  if (std::exchange(has_parents_ranges, false)) {
    begin_ticks_in_child();
    forget_started_ranges_of_parent();
  }
  max_ring_slots.store(std::bit_ceil(std::max<std::size_t>(slots, 1024)));
  budget.store(limit, std::memory_order_release);
}

void when_child_needs_logs(void (*configure)() noexcept) noexcept {
  configure_in_child.store(configure, std::memory_order_release);
}

thread_log* all_thread_logs() noexcept {
  return newest_log.load(std::memory_order_acquire);
}

void release_ended_logs() noexcept {
  constexpr int ready_for_next_threads = 16;
  int ready = 0;
  take_ended_log([&ready](thread_log& log) {
    log.ring.shrink();
    if (!log.is_lean && ++ready > ready_for_next_threads) make_lean(log);
    return false;
  });
}

std::size_t new_threads(std::size_t& cursor, std::span<thread_identity> into) noexcept {
  auto& all = directory();
  fork_guard const whole;
  std::lock_guard const lock(all.mutex);
  cursor = std::max(cursor, all.of_parent);
  std::size_t count = 0;
  for (; count < into.size() && cursor < all.threads.size(); ++count, ++cursor) {
    into[count] = all.threads[cursor];
  }
  return count;
}

std::uint64_t threads_without_log() noexcept {
  return refused_threads.load(std::memory_order_relaxed);
}

std::uint64_t ns_spent_on_stacks() noexcept {
  std::uint64_t ticks = 0;
  for (auto* log = all_thread_logs(); log != nullptr; log = log->next)
    ticks += log->counters.stack_ticks.load(std::memory_order_relaxed);
  return static_cast<std::uint64_t>(look_at_tick_line().to_ns(ticks));
}

void report_thread_logs(ledger& to) {
  to.add("lost.threads", threads_without_log());
  for (auto* log = all_thread_logs(); log != nullptr; log = log->next) {
    to.add("lost.kernels", log->counters.dropped_records);
    to.add("lost.launch_notes", log->counters.dropped_launches);
    to.add("lost.ranges", log->counters.dropped_ranges);
    to.add("lost.ranges_too_deep", log->counters.too_deep_ranges);
    to.add("lost.calls", log->counters.dropped_calls);
    to.add("note.rings_without_memory", log->counters.memory_refusals);
    to.add("note.unmatched_pops", log->counters.unmatched_pops);
  }
  to.add("cost.python_stacks_ns", ns_spent_on_stacks());
}

namespace {

long futex(int operation, std::uint32_t value, timespec const* timeout) noexcept {
  auto const saved_errno = errno;
  auto const result = syscall(SYS_futex, &drain_wanted, operation, value, timeout, nullptr, 0);
  errno = saved_errno;
  return result;
}

}  // namespace

void wake_drain() noexcept {
  if (drain_wanted.load(std::memory_order_relaxed) != 0) return;  // already woken
  if (drain_wanted.exchange(1, std::memory_order_release) == 0) {
    futex(FUTEX_WAKE_PRIVATE, 1, nullptr);
  }
}

bool wait_for_wake(std::chrono::nanoseconds timeout) noexcept {
  if (drain_wanted.exchange(0, std::memory_order_acquire) != 0) return true;
  auto const ns = std::max<std::int64_t>(timeout.count(), 0);
  timespec const limit{ns / 1'000'000'000, ns % 1'000'000'000};
  futex(FUTEX_WAIT_PRIVATE, 0, &limit);
  return drain_wanted.exchange(0, std::memory_order_acquire) != 0;
}

}  // namespace gpuprof::guest
