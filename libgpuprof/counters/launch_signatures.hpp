// Which launches are alike, and which passes of the plan each kind of launch has still to run.
#pragma once

#include "cupti/launch_parameters.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

namespace gpuprof {

/// Launches of one function with the same grid, block and dynamic shared memory do the same work.
class launch_signature {
 public:
  /// Bits by number of the group of metrics.
  using groups = std::uint32_t;
  static constexpr unsigned most_groups = 32;

  enum class standing : std::uint8_t { unknown, allowed, never };

  std::uint32_t count_launch() noexcept { return launches_.fetch_add(1, relaxed); }
  groups done() const noexcept { return done_.load(relaxed); }
  void mark_done(unsigned group) noexcept { done_.fetch_or(groups{1} << group, relaxed); }
  void forget(unsigned group) noexcept { done_.fetch_and(~(groups{1} << group), relaxed); }
  standing is() const noexcept { return standing_.load(relaxed); }
  void decide(standing what) noexcept { standing_.store(what, relaxed); }

 private:
  friend class launch_signatures;
  static constexpr auto relaxed = std::memory_order_relaxed;  // each value stands for itself
  std::atomic<std::uint64_t> key_{0};
  std::atomic<std::uint32_t> launches_{0};
  std::atomic<groups> done_{0};
  std::atomic<standing> standing_{standing::unknown};
};

/// All kinds of launches of the process so far. Any thread, without lock; nothing is ever removed.
class launch_signatures {
 public:
  static constexpr std::size_t capacity = 1 << 14;

  launch_signatures() : slots_(new std::array<launch_signature, capacity>) {}
  /// Null when the table is three quarters full and this one is new.
  launch_signature* find(launch_parameters const& launch) noexcept;

 private:
  std::unique_ptr<std::array<launch_signature, capacity>> slots_;
  std::atomic<std::size_t> used_{0};
};

}  // namespace gpuprof
