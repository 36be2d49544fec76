// SPDX-License-Identifier: Apache-2.0
// The names of kernels by CUPTI's pointers to them.
#pragma once

#include "guest/nvtx/name_registry.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

namespace gpuprof::guest {

/// A known pointer is looked up without reading its text, so that a launch does not touch cold
/// memory. Pointers are forgotten when code is unloaded: the name goes away with its module, and
/// another may be stored at its address. Any thread. Takes no lock for a known pointer.
class kernel_names {
 public:
  explicit kernel_names(name_registry& names) noexcept : names_(names) {}

  /// Returns 0 for a null pointer, and for a pointer that is not known since code was last
  /// unloaded.
  name_id known(char const* pointer) const noexcept { return known(pointer, generation()); }
  /// The same for an earlier generation. Also returns 0 if other names have taken its place.
  name_id known(char const* pointer, std::uint16_t generation) const noexcept {
    auto const wanted = key_of(pointer, generation);
    for (auto const i : places_of(wanted)) {
      auto const& there = places_[i];
      if (there.key.load(std::memory_order_acquire) != wanted) continue;
      auto const id = there.name.load(std::memory_order_acquire);
      // Read the key again: another thread may have changed the entry between the two reads.
      if (there.key.load(std::memory_order_relaxed) == wanted) return id;
    }
    return {};
  }

  /// Returns the name of a kernel that is being launched; its text can be read.
  name_id of_launched(char const* pointer) noexcept {
    auto const id = known(pointer);
    return raw(id) != 0 || pointer == nullptr ? id : learn(pointer);
  }

  /// Counts how often code was unloaded.
  std::uint16_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }

  /// Call it before and after code is unloaded: no pointer is known from now on.
  void code_unloads() noexcept;

 private:
  struct place {
    std::atomic<std::uint64_t> key{0};
    std::atomic<name_id> name{};
  };
  // A program with 1,500 kernels finds room for all except one or two.
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
  std::mutex mutex_;  // protects changes of places_
};

/// The instance of this process; never destroyed.
kernel_names& kernels_by_pointer() noexcept;

}  // namespace gpuprof::guest
