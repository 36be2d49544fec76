// Remembers recent launches by correlation id, until the records of their kernels and copies
// arrive.
#pragma once

#include "base/time.hpp"
#include "model/ids.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace gpuprof {

struct launch {
  timestamp_ns time;
  range_id range{};
  correlation_id correlation{};
  thread_index thread{};
  std::uint32_t arguments = 0;  // as in kernel_shape
  std::uint8_t flags = 0;       // launch_flags of collect/thread_log.hpp
  bool matched = false;         // at least one record has come
  bool given_up = false;        // nobody waits for its record any more
};

/// One thread. Correlation ids count up, so the low bits place an entry; it grows while entries
/// still waiting would be overwritten, up to `most` entries, and after that overwrites: the records
/// of those launches stay without thread and range.
class launch_table {
 public:
  explicit launch_table(std::size_t least = 1 << 14, std::size_t most = 1 << 20)
      : most_(most), slots_(least) {}

  void insert(launch const& l) {
    auto* slot = &slots_[place(l.correlation)];
    while (in_the_way(*slot, l) && slots_.size() < most_) {
      grow();
      slot = &slots_[place(l.correlation)];
    }
    if (in_the_way(*slot, l)) ++overwritten_;
    *slot = l;
    auto const id = raw(l.correlation);
    if (!std::exchange(any_, true)) next_ = newest_ = id;
    if (is_before(id, next_)) next_ = id;
    if (is_before(newest_, id)) newest_ = id;
  }

  launch* find(correlation_id correlation) noexcept {
    auto& slot = slots_[place(correlation)];
    return slot.correlation == correlation && raw(correlation) != 0 ? &slot : nullptr;
  }

  /// The one with the lowest correlation of those for which waits(launch const&) is true; nullptr:
  /// there is none. One for which it once was false may not be asked about again, so that all calls
  /// together look at each correlation about once.
  template <class F>
  launch* oldest(F waits) noexcept {
    auto const find_next = [&]() -> launch* {
      auto* const found = find(static_cast<correlation_id>(next_));
      return found != nullptr && waits(*found) ? found : nullptr;
    };
    if (!any_) return nullptr;
    if (auto* const still = find_next()) return still;
    if (newest_ - next_ >= slots_.size()) skip_what_is_not_here(waits);
    for (; next_ != newest_ + 1; ++next_)
      if (auto* const found = find_next()) return found;
    return nullptr;
  }

  /// Forgets all, keeps the memory.
  void clear() {
    slots_.assign(slots_.size(), {});
    any_ = false;
  }

  std::uint64_t overwritten() const noexcept { return overwritten_; }
  std::size_t bytes() const noexcept { return slots_.size() * sizeof(launch); }

 private:
  /// Still waiting for a record, and not the same launch noted twice: no growth would separate
  /// those.
  static bool in_the_way(launch const& there, launch const& wanted) noexcept {
    return raw(there.correlation) != 0 && !there.matched && there.correlation != wanted.correlation;
  }
  std::size_t place(correlation_id c) const noexcept { return raw(c) & (slots_.size() - 1); }
  void grow() {
    std::vector<launch> bigger(slots_.size() * 2);
    bigger.swap(slots_);
    for (auto const& l : bigger) {
      if (raw(l.correlation) != 0) slots_[place(l.correlation)] = l;
    }
  }

  /// Correlation ids may wrap around.
  static bool is_before(std::uint32_t one, std::uint32_t other) noexcept {
    return static_cast<std::int32_t>(one - other) < 0;
  }
  template <class F>
  void skip_what_is_not_here(F waits) noexcept {
    auto ahead = newest_ + 1 - next_;
    for (auto const& l : slots_)
      if (raw(l.correlation) != 0 && waits(l)) ahead = std::min(ahead, raw(l.correlation) - next_);
    next_ += ahead;
  }

  std::size_t const most_;
  std::vector<launch> slots_;
  std::uint64_t overwritten_ = 0;
  bool any_ = false;                     // has been inserted
  std::uint32_t next_ = 0, newest_ = 0;  // correlations: oldest() looks from here, to there
};

}  // namespace gpuprof
