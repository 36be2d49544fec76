// SPDX-License-Identifier: Apache-2.0
// Which kinds of records a client has asked for, and from when to when.
#pragma once

#include "guest/cupti/api.hpp"

#include <array>
#include <atomic>
#include <cstdint>

namespace gpuprof {

/// Any thread, without lock. Times are those of the machine's clock, ns.
class enabled_records {
 public:
  static constexpr std::uint32_t kinds = 128;
  static constexpr bool knows(CUpti_ActivityKind kind) noexcept {
    return static_cast<std::uint32_t>(kind) < kinds;
  }

  /// True when no other kind was on.
  bool begin(CUpti_ActivityKind kind, std::uint64_t now) noexcept {
    auto& of = kinds_[kind];
    if (of.on.exchange(true)) return false;
    auto& fresh = of.spans[of.begun.load() % spans_kept];
    fresh.until.store(open);
    fresh.since.store(now);
    of.begun.fetch_add(1);
    return on_.fetch_add(1) == 0;
  }
  /// True when no kind is on any more. What was launched until now may run later: it belongs to the
  /// time as well, until settle().
  bool end(CUpti_ActivityKind kind, std::uint64_t now) noexcept {
    auto& of = kinds_[kind];
    if (!of.on.exchange(false)) return false;
    if (is_call(kind)) last_of(of).until.store(now);
    last_end_.store(now);
    return on_.fetch_sub(1) == 1;
  }
  /// The client fetches what there is: nothing that begins later is of a time that has ended.
  void settle(std::uint64_t now) noexcept {
    for (auto& of : kinds_) {
      if (of.on.load() || of.begun.load() == 0) continue;
      auto still_open = open;
      last_of(of).until.compare_exchange_strong(still_open, now);
    }
  }
  bool has(CUpti_ActivityKind kind) const noexcept { return kinds_[kind].on.load(); }
  bool has_any() const noexcept { return on_.load() != 0; }
  /// There may be records that are not delivered yet.
  bool is_recent(std::uint64_t now) const noexcept {
    return has_any() || now < last_end_.load() + kept_in_cupti_ns;
  }
  bool had(CUpti_ActivityKind kind) const noexcept { return kinds_[kind].begun.load() != 0; }
  /// Whether what began at `start` (0: nobody knows) is of a time for which it was asked.
  bool covers(CUpti_ActivityKind kind, std::uint64_t start) const noexcept {
    auto const& of = kinds_[kind];
    auto const begun = of.begun.load();
    if (begun == 0 || start == 0) return begun != 0;
    for (std::uint32_t i = 0; i < spans_kept && i < begun; ++i)
      if (start >= of.spans[i].since.load() && start <= of.spans[i].until.load()) return true;
    return false;
  }
  void forget() noexcept {
    for (auto& of : kinds_) {
      of.on.store(false);
      of.begun.store(0);
    }
    on_.store(0);
    last_end_.store(0);
  }

 private:
  static constexpr std::uint64_t open = ~std::uint64_t{0};
  static constexpr std::uint64_t kept_in_cupti_ns = 10'000'000'000;
  static constexpr std::uint32_t spans_kept = 8;

  struct span {
    std::atomic<std::uint64_t> since{0}, until{open};
  };
  struct kind_state {
    std::atomic<bool> on{false};
    std::atomic<std::uint32_t> begun{0};
    std::array<span, spans_kept> spans{};
  };

  static constexpr bool is_call(CUpti_ActivityKind kind) noexcept {
    return kind == CUPTI_ACTIVITY_KIND_DRIVER || kind == CUPTI_ACTIVITY_KIND_RUNTIME;
  }
  static span& last_of(kind_state& of) noexcept {
    return of.spans[(of.begun.load() - 1) % spans_kept];
  }

  std::array<kind_state, kinds> kinds_{};
  std::atomic<std::uint32_t> on_{0};
  std::atomic<std::uint64_t> last_end_{0};
};

}  // namespace gpuprof
