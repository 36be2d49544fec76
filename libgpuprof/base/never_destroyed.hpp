// SPDX-License-Identifier: Apache-2.0
// An object that outlives every thread and exit handler, without heap memory.
#pragma once

#include <new>
#include <utility>

namespace gpuprof {

/// Used as `static never_destroyed<T> one;` in a function. Callbacks may still come while the
/// process ends, and in a noexcept function no allocation may fail.
template <class T>
class never_destroyed {
 public:
  template <class... Arguments>
  explicit never_destroyed(Arguments&&... arguments) {
    new (storage_) T(std::forward<Arguments>(arguments)...);
  }
  never_destroyed(never_destroyed const&) = delete;
  never_destroyed& operator=(never_destroyed const&) = delete;

  T& operator*() noexcept { return *std::launder(reinterpret_cast<T*>(storage_)); }

 private:
  alignas(T) unsigned char storage_[sizeof(T)];
};

}  // namespace gpuprof
