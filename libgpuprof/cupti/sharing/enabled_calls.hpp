// SPDX-License-Identifier: Apache-2.0
// Which single calls of the runtime and the driver a client has switched on or off, beside the
// kinds of records.
#pragma once

#include "cupti/api.hpp"

#include <array>
#include <atomic>
#include <cstdint>

namespace gpuprof {

/// Any thread, without lock.
class enabled_calls {
 public:
  static constexpr std::uint32_t ids = 1024;
  static constexpr bool knows(CUpti_ActivityKind kind, CUpti_CallbackId id) noexcept {
    return is_of_calls(kind) && id < ids;
  }
  static constexpr bool is_of_calls(CUpti_ActivityKind kind) noexcept {
    return kind == CUPTI_ACTIVITY_KIND_DRIVER || kind == CUPTI_ACTIVITY_KIND_RUNTIME;
  }

  void set(CUpti_ActivityKind kind, CUpti_CallbackId id, bool on) noexcept {
    of(kind)[id].store(on ? state::on : state::off);
    if (on) had_[kind == CUPTI_ACTIVITY_KIND_DRIVER][id].store(true);
  }
  /// The whole kind is switched: CUPTI forgets what was said of its calls.
  void forget(CUpti_ActivityKind kind) noexcept {
    for (auto& call : of(kind)) call.store(state::as_its_kind);
  }
  void forget() noexcept {
    forget(CUPTI_ACTIVITY_KIND_DRIVER);
    forget(CUPTI_ACTIVITY_KIND_RUNTIME);
  }

  bool is_on(CUpti_ActivityKind kind, CUpti_CallbackId id) const noexcept {
    return of(kind)[id].load() == state::on;
  }
  bool is_off(CUpti_ActivityKind kind, CUpti_CallbackId id) const noexcept {
    return of(kind)[id].load() == state::off;
  }
  /// It was on at some time: records may still come.
  bool had(CUpti_ActivityKind kind, CUpti_CallbackId id) const noexcept {
    return had_[kind == CUPTI_ACTIVITY_KIND_DRIVER][id].load();
  }
  template <class Use>
  void for_each_on(CUpti_ActivityKind kind, Use use) const {
    for (CUpti_CallbackId id = 0; id < ids; ++id)
      if (is_on(kind, id)) use(id);
  }

 private:
  enum class state : std::uint8_t { as_its_kind, on, off };
  using of_kind = std::array<std::atomic<state>, ids>;

  of_kind& of(CUpti_ActivityKind kind) noexcept {
    return states_[kind == CUPTI_ACTIVITY_KIND_DRIVER];
  }
  of_kind const& of(CUpti_ActivityKind kind) const noexcept {
    return states_[kind == CUPTI_ACTIVITY_KIND_DRIVER];
  }

  std::array<of_kind, 2> states_{};
  std::array<std::array<std::atomic<bool>, ids>, 2> had_{};
};

}  // namespace gpuprof
