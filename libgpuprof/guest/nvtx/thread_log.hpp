// SPDX-License-Identifier: Apache-2.0
// The events that a thread of the program records: NVTX ranges, marks, launches, and driver calls.
//
// Each thread owns one thread_log. Only that thread writes to it, and only the drain thread reads
// it. Writing takes no lock, allocates nothing and handles no text. If the ring is full, the entry
// is dropped and counted. Room is reserved for the ends of ranges whose begin was written.
#pragma once

#include "base/growing_ring.hpp"
#include "base/ledger.hpp"
#include "base/memory_budget.hpp"
#include "guest/nvtx/log_entry.hpp"
#include "guest/nvtx/name_registry.hpp"
#include "guest/nvtx/range_stack.hpp"
#include "model/ids.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <sys/mman.h>
#include <utility>

namespace gpuprof::guest {

/// Zeroed memory from the system that counts against the budget, for what a thread of the program
/// keeps beside its ring. Used by one thread at a time.
class side_memory {
 public:
  explicit side_memory(memory_budget& budget) noexcept : budget_(&budget) {}
  side_memory(side_memory const&) = delete;
  side_memory& operator=(side_memory const&) = delete;
  ~side_memory() { release(); }

  /// Null until allocate() has succeeded.
  std::byte* data() const noexcept { return data_; }
  memory_budget& budget() const noexcept { return *budget_; }

  /// Releases what it has. Returns false if the budget or the system has no room.
  bool allocate(std::size_t bytes) noexcept {
    release();
    if (!budget_->reserve(bytes)) return false;
    auto* const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      budget_->release(bytes);
      return false;
    }
    data_ = static_cast<std::byte*>(memory);
    bytes_ = bytes;
    return true;
  }
  void release() noexcept {
    if (data_ == nullptr) return;
    munmap(data_, bytes_);
    budget_->release(bytes_);
    data_ = nullptr;
    bytes_ = 0;
  }
  void swap(side_memory& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }

 private:
  memory_budget* budget_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Counters that only their thread increments and the drain thread reads from time to time.
/// Relaxed, because only the value matters. They keep counting when a log passes to another thread.
struct thread_counters {
  std::atomic<std::uint64_t> dropped_launches{0};  // ring full; their kernels have records
  std::atomic<std::uint64_t> dropped_records{0};   // ring full; launches without a kernel record
  std::atomic<std::uint64_t> dropped_ranges{0};    // ring full
  std::atomic<std::uint64_t> too_deep_ranges{0};   // no place on the stack
  std::atomic<std::uint64_t> dropped_calls{0};     // ring full
  std::atomic<std::uint64_t> unmatched_pops{0};
  std::atomic<std::uint64_t> memory_refusals{0};  // the ring could not grow: out of memory
  std::atomic<std::uint64_t> stack_ticks{0};      // spent on Python stacks, from one walk in 16

  static void bump(std::atomic<std::uint64_t>& counter, std::uint64_t by = 1) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
};

struct thread_log {
  thread_log(std::span<log_entry> first_slots, std::size_t max_slots,
             memory_budget& budget) noexcept
      : ring(first_slots, max_slots, budget),
        stack_memory(budget),
        names(&budget),
        ranges(budget) {}

  thread_index index{};          // changes when the log passes to another thread, with empty ring
  std::uint32_t os_thread = 0;   // changes together with `index`
  growing_ring<log_entry> ring;  // write only through log_writer.hpp, which keeps room for ends
  thread_counters counters;
  std::atomic<bool> thread_ended{false};
  thread_log* next = nullptr;  // list of all logs, newest first; set once
  bool is_lean = false;        // its memory was released; used only by the thread that took the log
  // Everything below is used by the owner thread only.
  std::uint64_t next_range = 1;
  std::uint32_t caught_up_with = 0;  // generation in which all ranges of the stack are written
  std::uint32_t owed_ends = 0;       // number of ranges on the stack whose begin is written
  std::uint64_t steps = 0;           // number of steps begun (gpuprof_step()); the last one is open
  range_id around_steps{};           // range around the last step; 0: none
  std::uint32_t domains_gone = 0;    // generation of nvtx_domains that the stack knows
  side_memory stack_memory;          // what guest/stacks knows of this thread
  name_cache names;
  range_stack ranges;  // last member: most of its memory is never touched

  /// Returns an id that is unique in the process: thread index in the upper bits, a counter in the
  /// lower ones. Called by the owner thread only.
  range_id make_range_id() noexcept {
    return static_cast<range_id>((static_cast<std::uint64_t>(raw(index)) << 40) | next_range++);
  }
};

/// Call before the first log is made, on one thread at a time. Only the first call in a process has
/// an effect. Each ring grows to at most `slots` entries (rounded up to a power of two). Memory of
/// logs is charged to `budget`, which must live as long as the process.
void configure_thread_logs(memory_budget* budget, std::size_t slots);

/// A child made by fork() starts without logs, but NVTX is already attached. `configure` is called
/// at the child's first NVTX call, possibly by several threads at once.
void when_child_needs_logs(void (*configure)() noexcept) noexcept;

namespace detail {
// Initial-exec: takes one instruction instead of a call to __tls_get_addr. Uses eight bytes of the
// static TLS surplus, which is also available to a late dlopen.
extern constinit thread_local thread_log* current_log __attribute__((tls_model("initial-exec")));
thread_log* make_thread_log() noexcept;
}  // namespace detail

/// Returns this thread's log, which is made on first use. Returns nullptr before
/// configure_thread_logs(), if the budget is used up, in a forked child, or while the thread ends.
/// The caller then continues without counting anything.
inline thread_log* this_thread_log() noexcept {
  auto* const log = detail::current_log;
  return log != nullptr ? log : detail::make_thread_log();
}

/// Returns the newest log; `next` leads to older ones. Can be called on any thread. Logs are never
/// freed. A log passes to a new thread after its own thread has ended and its ring is drained.
thread_log* all_thread_logs() noexcept;

/// Releases the memory of logs whose thread has ended, except one page of each log, and everything
/// of a few logs for the next threads. Called by the drain thread only.
void release_ended_logs() noexcept;

struct thread_identity {
  thread_index thread{};
  std::uint32_t os_thread = 0;
};
/// Returns threads that got a log since the last call with this `cursor` (start with 0), oldest
/// first. Takes a lock, so it must not be called inside an NVTX or launch callback.
std::size_t new_threads(std::size_t& cursor, std::span<thread_identity> into) noexcept;

/// Returns how many threads got no log because memory was out. A thread whose ring cannot grow
/// counts lost entries in its own counters, as dropped.
std::uint64_t threads_without_log() noexcept;
/// The time that the program's threads have spent on their Python stacks.
std::uint64_t ns_spent_on_stacks() noexcept;
/// Reports what threads lost: launches, ranges, kernel records and driver calls.
void report_thread_logs(ledger& to);

/// True while ranges, marks, launches and calls must be written to the rings. The range stacks are
/// always kept.
inline std::atomic<bool> log_is_recording{false};

/// Open ranges are written once in each generation. Increment it if what was written before and
/// what comes next belong to different files. Never 0.
inline std::atomic<std::uint32_t> log_generation{1};

/// Wakes the drain thread because a ring is half full. Async-signal-safe, cheap, can be called on
/// any thread.
void wake_drain() noexcept;

/// Sleeps until wake_drain() is called or `timeout` has passed. Returns true if woken. Only one
/// thread may wait at a time.
bool wait_for_wake(std::chrono::nanoseconds timeout) noexcept;

}  // namespace gpuprof::guest
