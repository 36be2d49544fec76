// Makes a log for each thread that needs one, keeps them in a list, passes them on.
#include "collect/thread_log.hpp"

#include "base/process.hpp"
#include "collect/nvtx_ranges.hpp"
#include "collect/nvtx_ticks.hpp"

#include <climits>

#include <algorithm>
#include <bit>
#include <cerrno>
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

namespace gpuprof {
namespace detail {

constinit thread_local thread_log* current_log = nullptr;

}  // namespace detail

namespace {

enum class thread_state : std::uint8_t { fresh, refused, going_down };
constinit thread_local thread_state state __attribute__((tls_model("initial-exec"))) =
    thread_state::fresh;

std::atomic<memory_budget*> budget{nullptr};
std::atomic<std::size_t> slots_per_ring{0};
std::atomic<thread_log*> newest_log{nullptr};
std::atomic<std::uint64_t> refused_threads{0};

// Runs after the destructors of thread_local objects, so ranges in those still have their log.
void end_of_thread(void* log) noexcept {
  if (!is_forked_child()) close_ranges(*static_cast<thread_log*>(log));
  detail::current_log = nullptr;
  state = thread_state::going_down;
  static_cast<thread_log*>(log)->thread_ended.store(true, std::memory_order_release);
}

bool thread_end_is_watched = false;
pthread_key_t thread_end_key;

/// All threads that ever had a log. Never destroyed.
struct thread_directory {
  std::mutex mutex;  // protects all below
  std::deque<thread_identity> threads;
  std::uint32_t last_index = 0;
};
thread_directory& directory() {
  static auto* const instance = new thread_directory;
  return *instance;
}

// The most threads whose identity is kept for new_threads(); later ones still get an index.
constexpr std::size_t max_threads_listed = 1u << 20;

thread_index enter_in_directory(std::uint32_t os_thread) {
  auto& all = directory();
  std::lock_guard const lock(all.mutex);
  auto const index = static_cast<thread_index>(++all.last_index);
  if (all.threads.size() < max_threads_listed) all.threads.push_back({index, os_thread});
  return index;
}

/// A log whose thread has ended and whose entries have all been read.
thread_log* take_over_ended_log() noexcept {
  for (auto* log = newest_log.load(std::memory_order_acquire); log != nullptr; log = log->next) {
    auto ended = true;
    if (!log->thread_ended.load(std::memory_order_relaxed)) continue;
    if (!log->thread_ended.compare_exchange_strong(ended, false, std::memory_order_acquire)) {
      continue;
    }
    if (log->ring.drained()) return log;
    log->thread_ended.store(true, std::memory_order_release);
  }
  return nullptr;
}

constexpr std::size_t header_bytes = (sizeof(thread_log) + 4095) / 4096 * 4096;

// One mapping holds log and ring. The ring's pages are neither touched nor charged before the first
// entry is written: threads that never record cost their range stack alone.
thread_log* map_new_log() noexcept {
  auto* const limit = budget.load(std::memory_order_acquire);
  if (!limit->reserve(header_bytes)) return nullptr;
  auto const slots = slots_per_ring.load(std::memory_order_relaxed);
  auto const bytes = header_bytes + slots * sizeof(log_entry);
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    limit->release(header_bytes);
    return nullptr;
  }
  // Zero bytes are a valid log_entry, so the slots need no constructor that would touch them.
  auto* const first = reinterpret_cast<log_entry*>(static_cast<std::byte*>(memory) + header_bytes);
  auto* const log = new (memory) thread_log({first, slots});
  log->next = newest_log.load(std::memory_order_relaxed);
  while (!newest_log.compare_exchange_weak(log->next, log, std::memory_order_release,
                                           std::memory_order_relaxed)) {
  }
  return log;
}

void hand_to_this_thread(thread_log& log) {
  log.os_thread = os_thread_id();
  log.index = enter_in_directory(log.os_thread);
  log.ranges.clear();
  log.caught_up_with = 0;
  log.owed_ends = 0;
}

}  // namespace

namespace detail {

thread_log* make_thread_log() noexcept {
  if (state != thread_state::fresh || budget.load(std::memory_order_acquire) == nullptr ||
      is_forked_child()) {
    return nullptr;
  }
  auto const saved_errno = errno;
  auto* log = take_over_ended_log();
  if (log == nullptr) log = map_new_log();
  try {
    if (log != nullptr) hand_to_this_thread(*log);
  } catch (...) {  // no memory for the directory
    log->thread_ended.store(true, std::memory_order_release);
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

bool charge_ring(thread_log& log) noexcept {
  auto const bytes = slots_per_ring.load(std::memory_order_relaxed) * sizeof(log_entry);
  auto* const limit = budget.load(std::memory_order_acquire);
  if (limit == nullptr || !limit->reserve(bytes)) return false;
  log.ring_charged = true;
  return true;
}

}  // namespace detail

void configure_thread_logs(memory_budget* limit, std::size_t slots) noexcept {
  static bool const configured = [&] {  // a second caller waits for the first
    watch_process_life();
    // The child has one thread, this one; its log belongs to the parent's story.
    pthread_atfork(nullptr, nullptr, [] { detail::current_log = nullptr; });
    thread_end_is_watched = pthread_key_create(&thread_end_key, end_of_thread) == 0;
    ticks_are_steady = find_out_whether_ticks_are_steady();
    first_look_at_ticks = tick_line::look();
    slots_per_ring.store(std::bit_ceil(std::max<std::size_t>(slots, 1024)));
    budget.store(limit, std::memory_order_release);
    return true;
  }();
  (void)configured;
}

thread_log* all_thread_logs() noexcept {
  return newest_log.load(std::memory_order_acquire);
}

std::size_t new_threads(std::size_t& cursor, std::span<thread_identity> into) noexcept {
  auto& all = directory();
  std::lock_guard const lock(all.mutex);
  std::size_t count = 0;
  for (; count < into.size() && cursor < all.threads.size(); ++count, ++cursor) {
    into[count] = all.threads[cursor];
  }
  return count;
}

std::uint64_t threads_without_log() noexcept {
  return refused_threads.load(std::memory_order_relaxed);
}

namespace {

// 1: the drain thread was asked to come and has not yet. A bare word, since std::atomic::wait has
// no timeout.
std::atomic<std::uint32_t> drain_wanted{0};
static_assert(sizeof drain_wanted == 4);

long futex(int operation, std::uint32_t value, timespec const* timeout) noexcept {
  auto const saved_errno = errno;
  auto const result = syscall(SYS_futex, &drain_wanted, operation, value, timeout, nullptr, 0);
  errno = saved_errno;
  return result;
}

}  // namespace

void wake_drain() noexcept {
  if (drain_wanted.load(std::memory_order_relaxed) != 0) return;  // asked already
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

}  // namespace gpuprof
