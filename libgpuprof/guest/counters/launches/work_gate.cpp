// SPDX-License-Identifier: Apache-2.0
#include "guest/counters/launches/work_gate.hpp"

#include "base/futex.hpp"
#include "base/time.hpp"

#include <algorithm>

namespace gpuprof::guest {
namespace {

// Shorter holds are known from the readings.
constexpr std::uint64_t min_hold_ns = 1'000'000;

void raise_to(std::atomic<std::uint64_t>& longest, std::uint64_t ns) noexcept {
  auto known = longest.load(std::memory_order_relaxed);
  while (known < ns && !longest.compare_exchange_weak(known, ns)) {
  }
}

}  // namespace

// A call counts itself before it checks the mode, and the keeper checks the count after it has
// changed the mode: so one of them sees the other.
bool work_gate::enter(gate_call const& what) noexcept {
  inside_.fetch_add(1);
  if (passes(mode_.load(), what)) return false;
  if (inside_.fetch_sub(1) == 1) futex_wake(inside_);
  return wait_outside(what);
}

void work_gate::note_wait(std::uint64_t since_ns, bool was_switched) noexcept {
  auto const waited = monotonic_ns() - since_ns;
  waited_ns_.fetch_add(waited, std::memory_order_relaxed);
  raise_to(was_switched ? longest_switch_ns_ : longest_hold_ns_, waited);
}

/// Call these two and let_in() with the mutex held.
void work_gate::one_waits() noexcept {
  if (waiting_++ == 0) held_since_ = monotonic_ns();
}

void work_gate::one_goes_on() noexcept {
  if (--waiting_ != 0) return;
  auto const held = monotonic_ns() - held_since_;
  held_ns_ += held;
  if (held < min_hold_ns) return;
  auto const end = now();
  if (hold_count_ == max_holds)
    holds_.back().duration = end - holds_.back().start;
  else
    holds_[hold_count_++] = {{end.value - held}, {static_cast<std::int64_t>(held)}};
}

std::vector<hold_record> work_gate::take_holds() {
  std::vector<hold_record> taken;
  {
    std::lock_guard const lock(mutex_);
    if (hold_count_ == 0) return taken;
  }
  taken.reserve(max_holds);  // without the lock, because calls of the program may wait for it
  std::lock_guard const lock(mutex_);
  taken.assign(holds_.begin(), holds_.begin() + static_cast<std::ptrdiff_t>(hold_count_));
  hold_count_ = 0;
  return taken;
}

std::uint64_t work_gate::held_ns() noexcept {
  std::lock_guard const lock(mutex_);
  return held_ns_ + (waiting_ != 0 ? monotonic_ns() - held_since_ : 0);
}

void work_gate::let_in(waiting& one) noexcept {
  one_goes_on();
  inside_.fetch_add(1);
  one.admitted.store(1);
  futex_wake(one.admitted);
}

bool work_gate::wait_outside(gate_call const& what) noexcept {
  auto const began = monotonic_ns();
  waiting me{.ticket = 0, .call = what};
  auto was_switched = false;
  {
    std::lock_guard const lock(mutex_);
    if (passes(mode_.load(), what)) return inside_.fetch_add(1), false;
    me.ticket = ++last_ticket_;
    try {
      outside_.push_back(&me);
    } catch (...) {  // no memory: the call does not wait
      impatient_.fetch_add(1);
      return inside_.fetch_add(1), false;
    }
    one_waits();
    arrivals_.fetch_add(1);
  }
  futex_wake(arrivals_);
  for (;;) {
    auto const moment = monotonic_ns();
    auto const is_switching = is_switching_.load();
    was_switched = was_switched || is_switching;
    // Time while CUPTI is switching does not count, because CUPTI would block the call too.
    auto const until =
        is_switching ? began + max_switch_ns : std::max(began, switched_ns_.load()) + max_hold_ns;
    if (moment < until) futex_wait(me.admitted, 0, std::min(until - moment, max_hold_ns));
    std::lock_guard const lock(mutex_);
    if (me.admitted.load() != 0) break;
    if (monotonic_ns() < until || (is_switching_.load() && !is_switching)) continue;
    std::erase(outside_, &me);
    one_goes_on();
    impatient_.fetch_add(1);
    inside_.fetch_add(1);
    break;
  }
  note_wait(began, was_switched);
  return me.is_read;
}

void work_gate::leave() noexcept {
  if (inside_.fetch_sub(1) == 1 && mode_.load() != open_mode) futex_wake(inside_);
}

void work_gate::leave_read(correlation_id correlation, bool failed) noexcept {
  auto const began = monotonic_ns();
  auto const seen = counted_.load();
  {
    std::lock_guard const lock(mutex_);
    departure_ = departure{correlation, failed};
    read_is_waiting_ = true;
    one_waits();
    departures_.fetch_add(1);
  }
  leave();
  futex_wake(departures_);
  for (;;) {
    auto const waited = monotonic_ns() - began;
    if (counted_.load() != seen) break;
    if (waited >= max_hold_ns) {
      std::lock_guard const lock(mutex_);
      if (counted_.load() != seen) break;
      read_is_waiting_ = false;
      one_goes_on();
      impatient_.fetch_add(1);
      break;
    }
    futex_wait(counted_, seen, max_hold_ns - waited);
  }
  note_wait(began, false);
}

void work_gate::open() noexcept {
  std::lock_guard const lock(mutex_);
  mode_.store(open_mode);
  for (auto* const one : outside_) let_in(*one);
  outside_.clear();
  if (read_is_waiting_) {
    read_is_waiting_ = false;
    one_goes_on();
    counted_.fetch_add(1);
    futex_wake(counted_);
  }
}

void work_gate::choose() noexcept {
  std::lock_guard const lock(mutex_);
  mode_.store(choosing_mode);
  std::erase_if(outside_, [this](waiting* one) {
    if (one->call.is_wanted) return false;
    let_in(*one);
    return true;
  });
}

bool work_gate::hold() noexcept {
  std::lock_guard const lock(mutex_);
  mode_.store(held_mode);
  if (inside_.load() == 0) return true;
  mode_.store(shut_mode);
  return false;
}

void work_gate::relax() noexcept {
  std::lock_guard const lock(mutex_);
  if (mode_.load() == held_mode) mode_.store(shut_mode);
}

std::optional<work_gate::visitor> work_gate::next(std::uint64_t max_ns) noexcept {
  auto const deadline = monotonic_ns() + max_ns;
  for (;;) {
    auto const seen = arrivals_.load();
    {
      std::lock_guard const lock(mutex_);
      if (!outside_.empty()) return visitor{outside_.front()->ticket, outside_.front()->call};
    }
    auto const moment = monotonic_ns();
    if (moment >= deadline) return std::nullopt;
    futex_wait(arrivals_, seen, deadline - moment);
  }
}

bool work_gate::admit(std::uint64_t ticket, bool is_read) noexcept {
  std::lock_guard const lock(mutex_);
  mode_.store(shut_mode);
  auto const found = std::find_if(outside_.begin(), outside_.end(),
                                  [ticket](auto const* one) { return one->ticket == ticket; });
  if (found == outside_.end()) return false;
  auto* const one = *found;
  outside_.erase(found);
  one->is_read = is_read;
  if (is_read) departure_.reset();
  let_in(*one);
  return true;
}

std::optional<work_gate::departure> work_gate::wait_for_departure(std::uint64_t max_ns) noexcept {
  auto const deadline = monotonic_ns() + max_ns;
  for (;;) {
    auto const seen = departures_.load();
    {
      std::lock_guard const lock(mutex_);
      if (departure_) return departure_;
    }
    auto const moment = monotonic_ns();
    if (moment >= deadline) return std::nullopt;
    futex_wait(departures_, seen, deadline - moment);
  }
}

bool work_gate::release_read() noexcept {
  std::lock_guard const lock(mutex_);
  departure_.reset();
  if (!read_is_waiting_) return false;
  read_is_waiting_ = false;
  one_goes_on();
  counted_.fetch_add(1);
  futex_wake(counted_);
  return true;
}

void work_gate::forget_calls() noexcept {
  inside_.store(0);
}

}  // namespace gpuprof::guest
