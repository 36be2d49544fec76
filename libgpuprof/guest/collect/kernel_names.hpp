// SPDX-License-Identifier: Apache-2.0
// The names of kernels by CUPTI's pointers to them.
#pragma once

#include "guest/nvtx/name_registry.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

namespace gpuprof::guest {

/// A pointer is looked up without a look at its text, so that a launch costs no cold memory, for as
/// long as no code is unloaded: with its module a name goes, and another may come to stand there.
/// Any thread. No lock for a pointer that is known.
class kernel_names {
 public:
  explicit kernel_names(name_registry& names) noexcept : names_(names) {}

  /// 0 when it is not known since code was last unloaded, and for a null pointer.
  name_id known(char const* pointer) const noexcept { return known(pointer, generation()); }
  /// In an earlier generation: 0 also when others have taken its place.
  name_id known(char const* pointer, std::uint16_t generation) const noexcept {
    auto const wanted = key_of(pointer, generation);
    for (auto const i : places_of(wanted)) {
      auto const& there = places_[i];
      if (there.key.load(std::memory_order_acquire) != wanted) continue;
      auto const id = there.name.load(std::memory_order_acquire);
      // Read again: else it may have come to be another's between the two.
      if (there.key.load(std::memory_order_relaxed) == wanted) return id;
    }
    return {};
  }

  /// Of a kernel that is being launched: its name is there to be read.
  name_id of_launched(char const* pointer) noexcept {
    auto const id = known(pointer);
    return raw(id) != 0 || pointer == nullptr ? id : learn(pointer);
  }

  /// Counts the times that code was unloaded.
  std::uint16_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }

  /// Before code goes, and after it: from now on no pointer is known.
  void code_unloads() noexcept;

 private:
  struct place {
    std::atomic<std::uint64_t> key{0};
    std::atomic<name_id> name{};
  };
  // A program with 1,500 kernels finds room for all but one or two.
  static constexpr int place_bits = 13;

  /// Never 0. Addresses of programs have 47 bits (48 on arm64).
  static std::uint64_t key_of(char const* pointer, std::uint16_t generation) noexcept {
    return reinterpret_cast<std::uintptr_t>(pointer) ^ (std::uint64_t{generation} << 48);
  }
  static std::array<std::size_t, 4> places_of(std::uint64_t key) noexcept {
    auto const first = (key * 0x9e3779b97f4a7c15u) >> (64 - place_bits);
    return {first, first ^ 1, first ^ 2, first ^ 3};
  }
  name_id learn(char const* pointer) noexcept;
  void forget_all() noexcept;

  name_registry& names_;
  std::atomic<std::uint16_t> generation_{1};
  std::array<place, std::size_t{1} << place_bits> places_{};
  std::mutex mutex_;  // protects what changes places_
};

/// Those of the process; never destroyed.
kernel_names& kernels_by_pointer() noexcept;

}  // namespace gpuprof::guest
