// What a thread of the program writes down about itself: opened and closed NVTX ranges, marks,
// launches.
//
// Each thread owns one thread_log. It alone writes; the drain thread alone reads. Writing takes no
// lock, allocates nothing and handles no text. When the ring is full the entry is dropped and
// counted.
#pragma once

#include "base/spsc_ring.hpp"
#include "base/time.hpp"
#include "model/ids.hpp"
#include "model/records.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

namespace gpuprof {

enum class entry_kind : std::uint8_t { launch, range_begin, range_begin_work, range_end, mark };

enum launch_flags : std::uint8_t {
  launch_of_graph = 1,      // cuGraphLaunch: any number of kernel records may follow
  launch_captured = 2,      // went into a graph under construction: no record will follow
  launch_failed = 4,        // the driver returned an error: no record will follow
  launch_is_copy = 8,       // a memcpy or memset call, not a kernel
  launch_not_selected = 16  // outside the launch filters: its records are not wanted
};

/// 32 bytes. Ranges and marks take two slots (head, detail), three with declared work.
struct log_slot {
  std::uint64_t time = 0;
  std::uint64_t range = 0;        // launch: innermost open range; others: the range itself
  std::uint32_t correlation = 0;  // launch only
  name_id name{};
  entry_kind kind{};
  std::uint8_t flags = 0;  // launch_flags, or range_style
  payload_kind payload{};
  std::uint8_t level = 0;
  std::uint32_t colour = 0;
};
struct log_detail {
  std::uint64_t parent = 0;
  std::uint64_t payload_bits = 0;
  name_id domain{};
  std::uint32_t category = 0;
  std::uint64_t unused = 0;
};
struct log_work {
  double flops = 0, bytes = 0;
  std::uint64_t unused[2] = {};
};
static_assert(sizeof(log_slot) == 32 && sizeof(log_detail) == 32 && sizeof(log_work) == 32);

union log_entry {
  log_slot head;
  log_detail detail;
  log_work work;
  log_entry() noexcept : head{} {}
};

/// The push/pop ranges open on one thread, per domain, innermost last.
/// Deeper than `depth` is counted, not stored: such ranges are lost, their pops are matched.
class range_stack {
 public:
  static constexpr std::size_t depth = 128;
  struct open_range {
    range_id range{};
    name_id domain{};
    name_id name{};
  };
  range_id innermost() const noexcept { return size_ == 0 ? range_id{} : open_[size_ - 1].range; }
  std::size_t size() const noexcept { return size_; }
  open_range const& at(std::size_t i) const noexcept { return open_[i]; }
  /// False when deeper than `depth`.
  bool push(open_range range) noexcept {
    if (size_ == depth) {
      ++too_deep_;
      return false;
    }
    open_[size_++] = range;
    return true;
  }
  /// The innermost open range of this domain; range 0 when there is none (one pop too many).
  open_range pop(name_id domain) noexcept {
    if (too_deep_ > 0) {
      --too_deep_;
      return {};
    }
    for (auto i = size_; i > 0; --i) {
      if (open_[i - 1].domain != domain) continue;
      auto const found = open_[i - 1];
      for (auto j = i; j < size_; ++j) open_[j - 1] = open_[j];
      --size_;
      return found;
    }
    return {};
  }

 private:
  std::array<open_range, depth> open_{};
  std::size_t size_ = 0;
  std::uint32_t too_deep_ = 0;
};

/// Counters a thread bumps itself and the drain thread reads now and then. Relaxed: single writer,
/// only the value matters.
struct thread_counters {
  std::atomic<std::uint64_t> launches{0};  // kernel launches that will yield a record
  std::atomic<std::uint64_t> graph_launches{0};
  std::atomic<std::uint64_t> dropped_launches{0};  // ring full
  std::atomic<std::uint64_t> dropped_ranges{0};    // ring full or stack too deep
  std::atomic<std::uint64_t> unmatched_pops{0};

  static void bump(std::atomic<std::uint64_t>& counter) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
};

struct thread_log {
  thread_log(thread_index index_, std::uint32_t os_thread_, std::span<log_entry> slots) noexcept
      : index(index_), os_thread(os_thread_), ring(slots) {}

  thread_index const index;
  std::uint32_t const os_thread;
  spsc_ring<log_entry> ring;
  range_stack ranges;            // owner thread only
  std::uint64_t next_range = 1;  // owner thread only
  thread_counters counters;
  std::atomic<bool> thread_ended{false};
  thread_log* next = nullptr;  // list of all logs, newest first; set once

  /// A process-wide unique id: thread index above, running number below. Owner thread only.
  range_id make_range_id() noexcept {
    return static_cast<range_id>((static_cast<std::uint64_t>(raw(index)) << 40) | next_range++);
  }
};

/// This thread's log, made on first use. nullptr when there is no memory left in the budget, in a
/// forked child, or while the thread is going down: then the caller counts nothing and goes on.
thread_log* this_thread_log() noexcept;

/// Newest first; follow `next`. Any thread; logs are never freed.
thread_log* all_thread_logs() noexcept;

/// True while ranges, marks and launches are to be written to the rings. The range stacks are kept
/// in any case.
inline std::atomic<bool> log_is_recording{false};

/// Asks the drain thread to come now: a ring is half full. Async-signal-safe, cheap, any thread.
void wake_drain() noexcept;

}  // namespace gpuprof
