// SPDX-License-Identifier: Apache-2.0
// State of each client of a shared CUPTI: its enabled callbacks, calls and records, its buffers and
// subscribers.
#pragma once

#include "guest/cupti/api.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>

namespace gpuprof::guest {

/// Any thread, without lock.
class enabled_callbacks {
 public:
  static constexpr std::uint32_t ids = 1024;  // in a domain; higher ids share the last place

  void set(CUpti_CallbackDomain domain, CUpti_CallbackId id, bool on) noexcept {
    auto& word = words_[place_of(domain)][clamped(id) / 64];
    auto const bit = std::uint64_t{1} << clamped(id) % 64;
    on ? word.fetch_or(bit, std::memory_order_acq_rel)
       : word.fetch_and(~bit, std::memory_order_acq_rel);
  }
  void set_domain(CUpti_CallbackDomain domain, bool on) noexcept {
    for (auto& word : words_[place_of(domain)])
      word.store(on ? ~std::uint64_t{0} : 0, std::memory_order_release);
  }
  bool has(CUpti_CallbackDomain domain, CUpti_CallbackId id) const noexcept {
    auto const word = words_[place_of(domain)][clamped(id) / 64].load(std::memory_order_acquire);
    return (word >> clamped(id) % 64 & 1) != 0;
  }
  bool has_any(CUpti_CallbackDomain domain) const noexcept {
    for (auto const& word : words_[place_of(domain)])
      if (word.load(std::memory_order_acquire) != 0) return true;
    return false;
  }
  /// Calls `use` for each enabled callback of a domain, in order.
  template <class Use>
  void for_each(CUpti_CallbackDomain domain, Use use) const {
    auto const& words = words_[place_of(domain)];
    for (std::uint32_t i = 0; i < words.size(); ++i)
      for (auto rest = words[i].load(std::memory_order_acquire); rest != 0; rest &= rest - 1)
        use(static_cast<CUpti_CallbackId>(64 * i +
                                          static_cast<std::uint32_t>(std::countr_zero(rest))));
  }

  static constexpr CUpti_CallbackDomain all_domains[] = {
      CUPTI_CB_DOMAIN_DRIVER_API,  CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_RESOURCE,
      CUPTI_CB_DOMAIN_SYNCHRONIZE, CUPTI_CB_DOMAIN_NVTX,        CUPTI_CB_DOMAIN_STATE};

 private:
  static constexpr std::uint32_t clamped(CUpti_CallbackId id) noexcept {
    return id < ids ? id : ids - 1;
  }
  static constexpr std::size_t place_of(CUpti_CallbackDomain domain) noexcept {
    return static_cast<std::size_t>(domain) % 8;
  }

  std::array<std::array<std::atomic<std::uint64_t>, ids / 64>, 8> words_{};
};

/// Any thread, without lock.
class enabled_calls {
 public:
  static constexpr std::uint32_t ids = 1024;
  static constexpr bool is_of_calls(CUpti_ActivityKind kind) noexcept {
    return kind == CUPTI_ACTIVITY_KIND_DRIVER || kind == CUPTI_ACTIVITY_KIND_RUNTIME;
  }
  static constexpr bool knows(CUpti_ActivityKind kind, CUpti_CallbackId id) noexcept {
    return is_of_calls(kind) && id < ids;
  }

  void set(CUpti_ActivityKind kind, CUpti_CallbackId id, bool on) noexcept {
    auto& all = of(kind);
    auto const before = all.states[id].exchange(on ? state::on : state::off);
    if (on && before != state::on) all.on.fetch_add(1);
    if (!on && before == state::on) all.on.fetch_sub(1);
    if (on) all.had[id].store(true);
    if (on) all.had_any.store(true);
  }
  /// The whole kind is switched: CUPTI forgets the settings of its single calls.
  void kind_switched(CUpti_ActivityKind kind, bool on) noexcept {
    if (!is_of_calls(kind)) return;
    auto& all = of(kind);
    for (auto& call : all.states) call.store(state::as_its_kind);
    all.on.store(0);
    all.is_on.store(on);
    if (on) all.had_whole.store(true);
  }
  void forget() noexcept {
    for (auto const kind : {CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_RUNTIME}) {
      kind_switched(kind, false);
      of(kind).had_whole.store(false);
      of(kind).had_any.store(false);
      for (auto& had : of(kind).had) had.store(false);
    }
  }

  bool has_any_on(CUpti_ActivityKind kind) const noexcept { return of(kind).on.load() != 0; }
  bool had_any(CUpti_ActivityKind kind) const noexcept {
    return is_of_calls(kind) && of(kind).had_any.load();
  }
  bool has_whole(CUpti_ActivityKind kind) const noexcept { return of(kind).is_on.load(); }
  /// True if CUPTI could write records of this call for this client if there were no other client.
  /// Records of calls that were on may still arrive.
  bool allow(CUpti_ActivityKind kind, CUpti_CallbackId id) const noexcept {
    if (!knows(kind, id)) return true;
    auto const& all = of(kind);
    if (all.states[id].load() == state::off && all.is_on.load()) return false;
    return !all.had_any.load() || all.had_whole.load() || all.had[id].load();
  }

 private:
  enum class state : std::uint8_t { as_its_kind, on, off };
  struct of_kind {
    std::array<std::atomic<state>, ids> states{};
    std::array<std::atomic<bool>, ids> had{};
    std::atomic<std::uint32_t> on{0};  // calls
    std::atomic<bool> had_any{false}, is_on{false}, had_whole{false};
  };
  of_kind& of(CUpti_ActivityKind kind) noexcept {
    return kinds_[kind == CUPTI_ACTIVITY_KIND_DRIVER];
  }
  of_kind const& of(CUpti_ActivityKind kind) const noexcept {
    return kinds_[kind == CUPTI_ACTIVITY_KIND_DRIVER];
  }

  std::array<of_kind, 2> kinds_{};
};

/// Any thread, without lock. Times are from the system clock, in ns.
class enabled_records {
 public:
  static constexpr std::uint32_t kinds = 128;
  static constexpr bool knows(CUpti_ActivityKind kind) noexcept {
    return static_cast<std::uint32_t>(kind) < kinds;
  }

  /// Returns true if no other kind was on.
  bool begin(CUpti_ActivityKind kind, std::uint64_t now) noexcept {
    auto& of = kinds_[kind];
    if (of.on.exchange(true)) return false;
    auto& fresh = of.spans[of.begun.load() % spans_kept];
    fresh.until.store(open);
    fresh.since.store(now);
    of.begun.fetch_add(1);
    return on_.fetch_add(1) == 0;
  }
  /// Returns true if no kind is on any more. Work launched until now may run later: it counts as
  /// covered until settle().
  bool end(CUpti_ActivityKind kind, std::uint64_t now) noexcept {
    auto& of = kinds_[kind];
    if (!of.on.exchange(false)) return false;
    if (is_call(kind)) last_of(of).until.store(now);
    last_end_.store(now);
    return on_.fetch_sub(1) == 1;
  }
  /// The client flushes: work that begins later is not covered by the spans that have ended.
  void settle(std::uint64_t now) noexcept {
    for (auto& of : kinds_) {
      if (of.on.load() || of.begun.load() == 0) continue;
      auto still_open = open;
      last_of(of).until.compare_exchange_strong(still_open, now);
    }
  }
  bool has(CUpti_ActivityKind kind) const noexcept { return kinds_[kind].on.load(); }
  bool has_any() const noexcept { return on_.load() != 0; }
  /// True if some records may not be delivered yet.
  bool is_recent(std::uint64_t now) const noexcept {
    return has_any() || now < last_end_.load() + kept_in_cupti_ns;
  }
  bool had(CUpti_ActivityKind kind) const noexcept { return kinds_[kind].begun.load() != 0; }
  /// True if work that began at `start` (0: unknown) was in a time for which the client had enabled
  /// the kind.
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

/// Any thread, without lock.
class lent_buffers {
 public:
  static constexpr std::size_t max_buffers = 1024;

  /// Returns false if there is no room.
  bool add(std::uint8_t* buffer) noexcept {
    for (auto& place : places_) {
      std::uint8_t* none = nullptr;
      if (place.compare_exchange_strong(none, buffer)) {
        count_.fetch_add(1);
        return true;
      }
    }
    return false;
  }
  /// Removes a buffer; returns true if it was in the list.
  bool remove(std::uint8_t* buffer) noexcept {
    if (count_.load() == 0) return false;
    for (auto& place : places_) {
      auto* expected = buffer;
      if (place.compare_exchange_strong(expected, nullptr)) {
        count_.fetch_sub(1);
        return true;
      }
    }
    return false;
  }

 private:
  std::array<std::atomic<std::uint8_t*>, max_buffers> places_{};
  std::atomic<std::size_t> count_{0};
};

/// True if the client sets allowMultipleSubscribers, a field that CUPTI 13.2 has added to the first
/// version of this struct.
inline bool asks_to_be_one_of_several(CUpti_SubscriberParams const* named) noexcept {
  constexpr std::size_t place =
      offsetof(CUpti_SubscriberParams, oldSubscriberSize) + sizeof(std::size_t);
  if (named == nullptr || named->structSize <= place) return false;
  std::uint8_t wanted = 0;
  std::memcpy(&wanted, reinterpret_cast<std::uint8_t const*>(named) + place, sizeof wanted);
  return wanted == 1;
}

/// Handles of subscribers that CUPTI keeps apart from ours. Any thread, without lock.
class own_subscribers {
 public:
  /// If the list is full, the handle stays unknown, and its calls are answered as for an unknown
  /// subscriber.
  void add(CUpti_SubscriberHandle handle) noexcept { replace(nullptr, handle); }
  void remove(CUpti_SubscriberHandle handle) noexcept { replace(handle, nullptr); }
  bool has(CUpti_SubscriberHandle handle) const noexcept {
    return handle != nullptr && std::any_of(all_.begin(), all_.end(), [handle](auto const& one) {
             return one.load(std::memory_order_acquire) == handle;
           });
  }
  void forget() noexcept {
    for (auto& one : all_) one.store(nullptr);
  }

 private:
  void replace(CUpti_SubscriberHandle old, CUpti_SubscriberHandle fresh) noexcept {
    for (auto& one : all_) {
      auto expected = old;
      if (one.compare_exchange_strong(expected, fresh)) return;
    }
  }
  std::array<std::atomic<CUpti_SubscriberHandle>, 16> all_{};
};

// Lets the two clients of a CUPTI wait for each other, without a lock.

// How long to wait for the other client, which is inside CUPTI on another thread and does not wait
// for us there.
inline constexpr int patience_ms = 30'000;

template <class Condition>
bool wait_for(Condition condition, int max_ms = patience_ms) noexcept {
  for (int waited = 0; !condition(); ++waited) {
    if (waited >= max_ms) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

/// Takes a flag, and clears it when the block is left, even by an exception of a client.
class taken_flag {
 public:
  enum class wait { no, yes };
  taken_flag(std::atomic_flag& flag, wait patient) noexcept
      : flag_(flag),
        mine_(patient == wait::yes ? wait_for([&flag] { return take(flag); }) : take(flag)) {}
  ~taken_flag() {
    if (mine_) flag_.clear(std::memory_order_release);
  }
  taken_flag(taken_flag const&) = delete;
  taken_flag& operator=(taken_flag const&) = delete;
  explicit operator bool() const noexcept { return mine_; }

 private:
  static bool take(std::atomic_flag& flag) noexcept {
    return !flag.test_and_set(std::memory_order_acquire);
  }
  std::atomic_flag& flag_;
  bool const mine_;
};

}  // namespace gpuprof::guest
