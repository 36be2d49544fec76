// SPDX-License-Identifier: Apache-2.0
// What a thread of the program writes down about itself: opened and closed NVTX ranges, marks,
// launches, calls that blocked.
//
// Each thread owns one thread_log. It alone writes; the drain thread alone reads. Writing takes no
// lock, allocates nothing and handles no text. When the ring is full the entry is dropped and
// counted; room for the ends of ranges whose begin was written is kept free.
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

namespace gpuprof::guest {

/// Counters a thread bumps itself and the drain thread reads now and then. Relaxed: single writer,
/// only the value matters. They go on counting when a log passes to another thread.
struct thread_counters {
  std::atomic<std::uint64_t> dropped_launches{0};  // ring full; their kernels have records
  std::atomic<std::uint64_t> dropped_records{0};   // ring full; launches that stood for a record
  std::atomic<std::uint64_t> dropped_ranges{0};    // ring full
  std::atomic<std::uint64_t> too_deep_ranges{0};   // no place on the stack
  std::atomic<std::uint64_t> dropped_calls{0};     // ring full
  std::atomic<std::uint64_t> unmatched_pops{0};
  std::atomic<std::uint64_t> memory_refusals{0};  // the ring could not grow for want of memory

  static void bump(std::atomic<std::uint64_t>& counter) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
};

struct thread_log {
  thread_log(std::span<log_entry> first_slots, std::size_t max_slots,
             memory_budget& budget) noexcept
      : ring(first_slots, max_slots, budget), names(&budget), ranges(budget) {}

  thread_index index{};          // changes when the log passes to another thread, its ring empty
  std::uint32_t os_thread = 0;   // likewise
  growing_ring<log_entry> ring;  // write through log_writer.hpp, which keeps room for ends
  thread_counters counters;
  std::atomic<bool> thread_ended{false};
  thread_log* next = nullptr;  // list of all logs, newest first; set once
  bool is_lean = false;        // has given its memory back; whoever has taken it over alone
  // Owner thread only, as all that follows.
  std::uint64_t next_range = 1;
  std::uint32_t caught_up_with = 0;  // the log generation all ranges of the stack are written in
  std::uint32_t owed_ends = 0;       // ranges of the stack whose begin is written
  std::uint64_t steps = 0;           // that have begun (gpuprof_step()), the last is open
  range_id around_steps{};           // in which the last lies; 0: none
  std::uint32_t domains_gone = 0;    // of nvtx_domains: the generation that the stack knows
  name_cache names;
  range_stack ranges;  // last: most of its memory is never touched

  /// A process-wide unique id: thread index above, running number below. Owner thread only.
  range_id make_range_id() noexcept {
    return static_cast<range_id>((static_cast<std::uint64_t>(raw(index)) << 40) | next_range++);
  }
};

/// Before the first log is made, on one thread at a time; only the first call of a process counts.
/// Each ring grows to `slots` entries at most (rounded up to a power of two). What logs take is
/// charged to `budget`, which must live as long as the process.
void configure_thread_logs(memory_budget* budget, std::size_t slots);

/// A child made by fork() begins without logs, and NVTX is attached there already. At its first
/// NVTX call this is called, to configure them anew. Any thread, several at once.
void when_child_needs_logs(void (*configure)() noexcept) noexcept;

namespace detail {
// Initial-exec: one instruction instead of a call to __tls_get_addr. Eight bytes of the static TLS
// surplus, which also a late dlopen finds.
extern constinit thread_local thread_log* current_log __attribute__((tls_model("initial-exec")));
thread_log* make_thread_log() noexcept;
}  // namespace detail

/// This thread's log, made on first use. nullptr before configure_thread_logs(), when there is no
/// memory left in the budget, in a forked child, or while the thread is going down: then the caller
/// counts nothing and goes on.
inline thread_log* this_thread_log() noexcept {
  auto* const log = detail::current_log;
  return log != nullptr ? log : detail::make_thread_log();
}

/// Newest first; follow `next`. Any thread; logs are never freed, but pass to a new thread once
/// their own has ended and their ring is drained.
thread_log* all_thread_logs() noexcept;

/// The memory of logs whose thread has ended goes back, but for a page of each and all of a few,
/// which the next threads will want. The thread that drains the rings.
void release_ended_logs() noexcept;

struct thread_identity {
  thread_index thread{};
  std::uint32_t os_thread = 0;
};
/// Threads that got a log since `cursor` (start with 0) was last here, oldest first. Any thread but
/// not inside an NVTX or launch callback: takes a lock.
std::size_t new_threads(std::size_t& cursor, std::span<thread_identity> into) noexcept;

/// How many threads got no log for want of memory. A thread whose ring may not grow counts what it
/// could not write in its counters, as dropped.
std::uint64_t threads_without_log() noexcept;
/// What threads lost of their own: launches, ranges, records that the program reported to them.
void report_thread_logs(ledger& to);

/// True while ranges, marks, launches and calls are to be written to the rings. The range stacks
/// are kept in any case.
inline std::atomic<bool> log_is_recording{false};

/// Ranges still open are written once in each generation. Add one when what was written before and
/// what comes next go to different files; never 0.
inline std::atomic<std::uint32_t> log_generation{1};

/// Asks the drain thread to come now: a ring is half full. Async-signal-safe, cheap, any thread.
void wake_drain() noexcept;

/// Sleeps until wake_drain() or until `timeout` has passed; true when woken. One waiter at a time.
bool wait_for_wake(std::chrono::nanoseconds timeout) noexcept;

}  // namespace gpuprof::guest
