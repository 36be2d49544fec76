// SPDX-License-Identifier: Apache-2.0
#include "guest/collect/kernel_names.hpp"

#include "base/never_destroyed.hpp"

#include <algorithm>

namespace gpuprof::guest {

name_id kernel_names::learn(char const* pointer) noexcept {
  auto const key = key_of(pointer, generation());
  auto const id = names_.intern(pointer);
  std::lock_guard const hold(mutex_);
  auto const places = places_of(key);
  auto const free = std::find_if(places.begin(), places.end(), [&](std::size_t i) {
    auto const there = places_[i].key.load(std::memory_order_relaxed);
    return there == 0 || there >> 48 != key >> 48;
  });
  auto& taken = places_[free != places.end() ? *free : places[raw(id) % places.size()]];
  taken.key.store(0, std::memory_order_relaxed);
  taken.name.store(id, std::memory_order_release);
  taken.key.store(key, std::memory_order_release);
  return id;
}

void kernel_names::code_unloads() noexcept {
  std::lock_guard const hold(mutex_);
  auto next = static_cast<std::uint16_t>(generation_.load(std::memory_order_relaxed) + 1);
  if (next == 0) {  // else names from 65,535 unloads ago would be valid again
    forget_all();
    next = 1;
  }
  generation_.store(next, std::memory_order_release);
}

void kernel_names::forget_all() noexcept {
  for (auto& known : places_) known.key.store(0, std::memory_order_relaxed);
}

kernel_names& kernels_by_pointer() noexcept {
  static never_destroyed<kernel_names> instance(names());
  return *instance;
}

}  // namespace gpuprof::guest
