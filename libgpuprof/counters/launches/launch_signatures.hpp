// Which launches are alike, and which passes of the plan each kind of launch has still to run.
#pragma once

#include "cupti/launch_parameters.hpp"
#include "model/ids.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

namespace gpuprof {

/// Launches of one function in one context with the same grid, block, dynamic shared memory and
/// values of arguments do the same work.
class launch_signature {
 public:
  /// Bits by number of the group of metrics.
  using groups = std::uint32_t;
  static constexpr unsigned most_groups = 32;

  enum class standing : std::uint8_t { unknown, allowed, never };

  std::uint32_t count_launch() noexcept { return launches_.fetch_add(1, relaxed); }
  groups done() const noexcept { return done_.load(relaxed); }
  void mark_done(unsigned group) noexcept {
    done_.fetch_or(groups{1} << group, relaxed);
    ever_done_.fetch_or(groups{1} << group, relaxed);
  }
  /// Also those that are being read again.
  groups ever_done() const noexcept { return ever_done_.load(relaxed); }
  /// The pass this kind was last read in, as sampled_context numbers them; 0: none yet.
  std::uint32_t read_in() const noexcept { return read_in_.load(relaxed); }
  void note_read(std::uint32_t pass) noexcept { read_in_.store(pass, relaxed); }
  /// Which range it is, in the passes of one reading. With the context's claim.
  std::uint16_t range() const noexcept { return range_; }
  void is_range(std::uint16_t index) noexcept { range_ = index; }
  /// How often a reading of it was not finished. With the context's claim.
  unsigned count_attempt() noexcept { return ++attempts_; }
  /// A launch of it in this capture that has a kernel record; 0: none yet.
  correlation_id pattern(std::uint32_t capture) const noexcept {
    auto const known = pattern_.load(relaxed);
    return static_cast<correlation_id>(known >> 32 == capture ? known & 0xffff'ffff : 0);
  }
  void note_pattern(std::uint32_t capture, correlation_id launch) noexcept {
    pattern_.store(std::uint64_t{capture} << 32 | raw(launch), relaxed);
  }
  /// The work behind equal launches may have changed: all is read again.
  void begin_again() noexcept { done_.store(0, relaxed); }
  /// As in kernel_shape.
  std::uint32_t arguments() const noexcept { return arguments_.load(relaxed); }
  standing is() const noexcept { return standing_.load(relaxed); }
  void decide(standing what) noexcept { standing_.store(what, relaxed); }

 private:
  friend class launch_signatures;
  static constexpr auto relaxed = std::memory_order_relaxed;  // each value stands for itself
  std::atomic<std::uint64_t> key_{0};
  std::atomic<std::uint32_t> launches_{0};
  std::atomic<groups> done_{0}, ever_done_{0};
  std::atomic<std::uint32_t> read_in_{0};
  std::atomic<std::uint32_t> arguments_{0}, values_{0};
  std::uint16_t range_ = 0, attempts_ = 0;
  std::atomic<std::uint64_t> pattern_{0};  // number of the capture, correlation
  std::atomic<standing> standing_{standing::unknown};
};

/// All kinds of launches of the process so far. Any thread, without lock; nothing is ever removed.
class launch_signatures {
 public:
  static constexpr std::size_t capacity = 1 << 14;

  /// So many values of arguments are told apart for one function and extents. When more come and
  /// these did not come again some times each, there is noise among them (a counter, what was on
  /// the stack before): then none is told apart any longer. A program launches all its sizes once
  /// before the first comes again, so it is not judged before.
  static constexpr std::uint32_t most_values = 32, times_each = 4;

  launch_signatures() : slots_(new std::array<launch_signature, capacity>) {}
  /// Null when the table is three quarters full and this one is new.
  /// `context`: CUPTI's number of it. Of one function handle each context has its own kinds.
  /// `arguments`: their fingerprint; 0: not known.
  launch_signature* find(launch_parameters const& launch, std::uint32_t context = 0,
                         std::uint32_t arguments = 0) noexcept;

  struct tally {
    std::uint64_t kinds = 0;   // that may be read
    std::uint64_t unread = 0;  // of these: no group has been read
    std::uint64_t partly = 0;  // of these: some of `all` groups have been read
  };
  tally count(launch_signature::groups all) const noexcept;

 private:
  launch_signature* at(std::uint64_t key, bool may_add) noexcept;
  static bool is_told_apart(launch_signature& any, bool is_new) noexcept;

  std::unique_ptr<std::array<launch_signature, capacity>> slots_;
  std::atomic<std::size_t> used_{0};
};

}  // namespace gpuprof
