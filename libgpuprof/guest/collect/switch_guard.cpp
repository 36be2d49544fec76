// SPDX-License-Identifier: Apache-2.0
#include "guest/collect/switch_guard.hpp"

#include "base/futex.hpp"
#include "base/log.hpp"
#include "base/time.hpp"

namespace gpuprof::guest {
namespace {

constexpr std::uint64_t patience_with_switches_ns = 1'000'000'000;
constexpr std::uint64_t patience_with_changes_ns = 20'000'000;

// Counts the switches of this thread. A switch may call the driver, which may call back on the same
// thread: it must not wait for itself.
constinit thread_local std::uint32_t entered_here __attribute__((tls_model("initial-exec"))) = 0;

}  // namespace

// A change and a switch each announce themselves first and then check for the other.
void switch_guard::change_begins() noexcept {
  changes_.fetch_add(1);
  auto const deadline = monotonic_ns() + patience_with_switches_ns;
  while (entered_here == 0 && monotonic_ns() < deadline) {
    auto const inside = inside_.load();
    if (inside == 0) return;
    futex_wait(inside_, inside, patience_with_switches_ns / 100);
  }
}

void switch_guard::change_ended() noexcept {
  auto now = changes_.load();
  while (now > 0 && !changes_.compare_exchange_weak(now, now - 1)) {
  }
  futex_wake(changes_);
}

bool switch_guard::enter() noexcept {
  inside_.fetch_add(1);
  if (changes_.load() == 0 && !closed_.load()) {
    ++entered_here;
    return true;
  }
  inside_.fetch_sub(1);
  futex_wake(inside_);
  return false;
}

bool switch_guard::enter_soon() noexcept {
  auto const deadline = monotonic_ns() + patience_with_changes_ns;
  while (!enter()) {
    if (closed_.load() || monotonic_ns() >= deadline) return false;
    if (auto const changes = changes_.load(); changes != 0)
      futex_wait(changes_, changes, patience_with_changes_ns / 10);
  }
  return true;
}

void switch_guard::enter_at_last() noexcept {
  if (enter_soon()) return;
  inside_.fetch_add(1);
  ++entered_here;
}

void switch_guard::leave() noexcept {
  --entered_here;
  inside_.fetch_sub(1);
  futex_wake(inside_);
}

/// Makes CUPTI do what the state says by calling `in_cupti`(on), which returns false on failure. If
/// another thread is already doing that, returns at once: that thread checks the state again
/// afterwards.
template <class Switch>
kernel_switch::outcome kernel_switch::settle(Switch&& in_cupti) {
  for (;;) {
    if (switching_.test_and_set()) return outcome::left_to_another;
    auto const on = is_on(state_.load());
    auto const stays = on == on_ || abandoned_.load() || (!on && !can_stop_);
    auto const works = stays || in_cupti(on);
    on_ = works && (on || (on_ && !can_stop_));
    switching_.clear();
    if (!works) return outcome::failed;
    if (is_on(state_.load()) == on) return outcome::settled;
  }
}

kernel_switch::outcome kernel_switch::settle() noexcept {
  return settle([this](bool on) {
    constexpr auto kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    return on ? guard_.try_call<&cupti_api::cuptiActivityEnable>(kind)
              : guard_.try_call<&cupti_api::cuptiActivityDisable>(kind);
  });
}

result<void> kernel_switch::want(bool records) {
  if (!records) {
    state_.fetch_and(~wanted);
    (void)settle();
    return {};
  }
  result<void> done;
  state_.fetch_or(wanted);
  auto const how = settle([&](bool on) {
    constexpr auto kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    if (!on) return guard_.try_call<&cupti_api::cuptiActivityDisable>(kind);
    done = guard_.call<&cupti_api::cuptiActivityEnable>(kind);
    return static_cast<bool>(done);
  });
  if (how == outcome::failed) state_.fetch_and(~wanted);
  return done;
}

bool kernel_switch::pause() noexcept {
  if (!can_stop_ || !switches_.enter()) return false;
  state_.fetch_add(one_pause);
  auto const is_off = settle() == outcome::settled;
  switches_.leave();
  if (!is_off) resume();
  return is_off;
}

void kernel_switch::resume() noexcept {
  state_.fetch_sub(one_pause);
  auto const entered = switches_.enter();  // does not wait: launches must not wait for unloads
  auto const how = settle();
  if (entered) switches_.leave();
  if (how == outcome::failed)
    log_warning("kernels are not traced from here on: CUPTI did not switch their records on again");
}

}  // namespace gpuprof::guest
