// SPDX-License-Identifier: Apache-2.0
#include "guest/collect/kernel_switch.hpp"

#include "base/log.hpp"

namespace gpuprof::guest {

/// Makes CUPTI do what the state says, by `in_cupti`(on), false when it failed. Who finds another
/// thread at it leaves: that one looks at the state again afterwards.
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
  auto const entered = switches_.enter();  // a launch waits for nobody who takes code away
  auto const how = settle();
  if (entered) switches_.leave();
  if (how == outcome::failed)
    log_warning("kernels are not traced from here on: CUPTI did not switch their records on again");
}

}  // namespace gpuprof::guest
