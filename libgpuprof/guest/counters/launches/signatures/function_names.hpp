// SPDX-License-Identifier: Apache-2.0
// Says cheaply by which name a function is known, for a handle may mean another after code was
// unloaded.
#pragma once

#include "base/own_memory.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace gpuprof::guest {

/// Any thread, inside the launch callback, without lock. Names are looked at once for each handle,
/// and again when code was unloaded.
class function_names {
 public:
  static constexpr std::size_t max_name = 1 << 16;

  function_names() : known_(new std::array<std::atomic<std::uint64_t>, max_functions>{}) {}

  /// The same for equal names, never 0. `name`: null where there is none; 0 then, and when it
  /// cannot be read, as beside handles that are no function.
  std::uint32_t hash_of(void const* function, char const* name) noexcept {
    if (name == nullptr) return 0;
    auto const mixed = reinterpret_cast<std::uintptr_t>(function) * 0x9e3779b97f4a7c15u;
    auto const tag = tag_of(static_cast<std::uint32_t>(mixed >> 16));
    auto& place = (*known_)[mixed >> (64 - bits)];
    auto const known = place.load(std::memory_order_relaxed);  // all of it in one word
    if (known >> 32 == tag) return static_cast<std::uint32_t>(known);
    auto const length = readable_length(name, max_name);
    if (!length) return 0;
    auto const hash =
        static_cast<std::uint32_t>(std::hash<std::string_view>{}({name, *length})) | 1;
    place.store(std::uint64_t{tag} << 32 | hash, std::memory_order_relaxed);
    return hash;
  }
  /// Code was unloaded.
  void forget() noexcept { generation_.fetch_add(1, std::memory_order_relaxed); }

 private:
  static constexpr unsigned bits = 13;
  static constexpr std::size_t max_functions = std::size_t{1} << bits;
  /// Of the handle, and of since when it means the same. Never 0.
  std::uint32_t tag_of(std::uint32_t handle) const noexcept {
    auto const generation = generation_.load(std::memory_order_relaxed);
    return (handle ^ generation * 0x9e3779b9u) | 1;
  }

  std::unique_ptr<std::array<std::atomic<std::uint64_t>, max_functions>> known_;
  std::atomic<std::uint32_t> generation_{1};
};

}  // namespace gpuprof::guest
