// SPDX-License-Identifier: Apache-2.0
// Which single calls of the runtime and the driver the program's client has switched on or off,
// beside the kinds of records.
#pragma once

#include "guest/cupti/api.hpp"

#include <array>
#include <atomic>
#include <cstdint>

namespace gpuprof {

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
  /// The whole kind is switched: CUPTI forgets what was said of its calls.
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
  /// Whether CUPTI may write records of this call for a client that is alone. Of calls that were on
  /// some may still come.
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

}  // namespace gpuprof
