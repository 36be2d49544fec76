// Remembers recent launches by correlation id, until the records of their kernels and copies
// arrive.
#pragma once

#include "base/time.hpp"
#include "model/ids.hpp"

#include <cstdint>
#include <vector>

namespace gpuprof {

struct launch {
  timestamp_ns time;
  range_id range{};
  correlation_id correlation{};
  thread_index thread{};
  std::uint8_t flags = 0;  // launch_flags of collect/thread_log.hpp
  bool matched = false;    // at least one record has come
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
  }

  launch* find(correlation_id correlation) noexcept {
    auto& slot = slots_[place(correlation)];
    return slot.correlation == correlation && raw(correlation) != 0 ? &slot : nullptr;
  }

  /// Forgets all, keeps the memory.
  void clear() { slots_.assign(slots_.size(), {}); }

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

  std::size_t const most_;
  std::vector<launch> slots_;
  std::uint64_t overwritten_ = 0;
};

}  // namespace gpuprof
