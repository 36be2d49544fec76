// SPDX-License-Identifier: Apache-2.0
// Tells which release of a GPU's primary context destroys it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

namespace gpuprof {

/// The driver counts who retains a primary context, and says only whether anybody does. So we count
/// what we hear of: a release with a retain that we heard of leaves the context to those who
/// retained it before; any other may be the last. Any thread.
class primary_contexts {
 public:
  /// Whether anybody retains the primary context of a device.
  using question = bool (*)(int device) noexcept;
  void ask(question is_active) noexcept { is_active_.store(is_active); }

  /// Calls were not heard of until now.
  void forget() noexcept {
    for (auto& context : held_) {
      context.heard_of.store(0);
      context.others.store(true);
    }
  }
  /// Before a call that retains, and after it.
  void retain_begins(int device) noexcept {
    auto const is_active = is_active_.load();
    if (is_active == nullptr || is_active(device)) return;
    at(device).heard_of.store(0);  // nobody holds it: from here on we know of everybody
    at(device).others.store(false);
  }
  void retain_ended(int device) noexcept { at(device).heard_of.fetch_add(1); }
  /// Before a call that releases: it may destroy the context.
  bool release_begins(int device) noexcept {
    auto& context = at(device);
    auto before = context.heard_of.load();
    while (before > 0 && !context.heard_of.compare_exchange_weak(before, before - 1)) {
    }
    return before == 0 || (before == 1 && !context.others.load());
  }

 private:
  struct held {
    std::atomic<int> heard_of{0};
    std::atomic<bool> others{true};  // who retained before we listened
  };
  static constexpr std::size_t devices = 64;  // those beyond share places

  held& at(int device) noexcept { return held_[static_cast<unsigned>(device) % devices]; }

  std::atomic<question> is_active_{nullptr};
  std::array<held, devices> held_{};
};

}  // namespace gpuprof
