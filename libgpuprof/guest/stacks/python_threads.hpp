// SPDX-License-Identifier: Apache-2.0
// The threads of the main interpreter and its GIL, read as bytes through the kernel: of this
// process, or of a child process.
#pragma once

#include "guest/stacks/python_runtime.hpp"

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace gpuprof::guest {

/// The PyThreadState of the main thread of the process; null: it has none.
std::byte const* state_of_main_thread(python_runtime const& python) noexcept;

/// Used by one thread.
class python_threads {
 public:
  /// `process`: a child process; 0: this process.
  explicit python_threads(python_runtime const& python, std::uint32_t process = 0) noexcept
      : python_(python), process_(process) {}

  /// Call it before a round of questions.
  void look_again() noexcept;
  /// The PyThreadState of a thread; null if it has none. Throws std::bad_alloc.
  std::byte const* state_of(std::uint32_t os_thread);
  /// True if a thread that waits in futex() for this address waits for the GIL.
  bool is_gil(std::uint64_t address) const noexcept {
    return gil_ != nullptr && address - reinterpret_cast<std::uintptr_t>(gil_) < gil_bytes;
  }
  /// The PyThreadState of the thread that holds the GIL, or had it last.
  std::byte const* gil_holder() const noexcept;

 private:
  static constexpr std::size_t gil_bytes = 208;  // struct _gil_runtime_state of 3.11 to 3.15

  bool is_of(std::byte const* state, std::uint32_t os_thread) const noexcept;
  void list_states();

  python_runtime const& python_;
  std::uint32_t process_;
  std::byte const* interpreter_ = nullptr;
  std::byte const* gil_ = nullptr;
  bool is_listed_ = false;  // in this round
  std::unordered_map<std::uint32_t, std::byte const*> states_;
};

}  // namespace gpuprof::guest
