// SPDX-License-Identifier: Apache-2.0
// The Python frames that a thread had at its last launch, with which the next launch compares its
// own.
#pragma once

#include "guest/nvtx/log_entry.hpp"
#include "guest/stacks/python_runtime.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace gpuprof::guest {

/// A step of the hash of a stack. The products do not wait for each other: only one short step of a
/// frame waits for the frame before.
std::uint64_t hash_of(std::uint64_t before, python_position const& at,
                      std::uint64_t identity = 0) noexcept;

/// Used by the thread itself, inside of a function that its innermost frame has called.
///
/// Two launches mostly share all outer frames. A frame is the same if it lies at the same address
/// and has the same code object, instruction and module, and the code object is not another one at
/// the address of the old (python_runtime::identity_of). All of that is read again at each launch,
/// since a frame does not show whether it has returned meanwhile. What is saved: the next frame's
/// address is known before it is read, so that nothing waits for memory in turn; the type of a code
/// object needs no second check; and only frames from the outermost new one inwards are hashed.
class last_stack {
 public:
  last_stack() noexcept { frames_[capacity] = {}; }
  enum class outcome {
    same,      // as at the last call
    changed,   // has another hash()
    too_deep,  // for this class
  };
  outcome follow(python_runtime const& python, std::byte const* innermost) noexcept;
  /// The next follow() compares with nothing.
  void forget() noexcept {
    begin_ = capacity;
    number = 0;
  }

  /// Number of frames of Python functions.
  std::size_t size() const noexcept { return begin_ == capacity ? 0 : sums_[begin_].size; }
  /// Of these frames, never 0.
  std::uint64_t hash() const noexcept { return sums_[begin_].hash | 1; }
  /// Writes what describes each of them, innermost first. Those that are new since the last call,
  /// and modules inside of new frames, are described by describe(python_position, outer) ->
  /// log_frame. `outer`: the module that is called next further out, or null.
  template <class Describe>
  void describe_all(std::span<log_frame> into, Describe describe) {
    auto place = size();
    std::byte const* outer = nullptr;
    auto is_in_new_frame = false;
    for (auto i = capacity; i-- > begin_;) {
      auto const& at = frames_[i].at;
      auto const is_module = at.module != nullptr;
      auto const is_new = !std::exchange(is_described_[i], true);
      if (at.code != nullptr && (is_new || (is_module && is_in_new_frame)))
        descriptions_[i] = describe(at, outer);
      is_in_new_frame = is_in_new_frame || is_new;
      if (at.code == nullptr) continue;
      into[--place] = descriptions_[i];
      if (is_module) outer = at.module;
    }
  }

  std::uint16_t number = 0;  // of this stack, kept by the caller; 0: not known

  /// Frames of calls from C included, which have no code object here.
  static constexpr std::size_t capacity = max_stack_frames + 64;

 private:
  struct known_frame {
    std::byte const* frame;
    python_position at;
    std::uint64_t identity;
  };
  struct sum {  // of a frame and all further out
    std::uint64_t hash;
    std::size_t size;
  };
  std::size_t first_other(python_runtime const& python, std::size_t at) const noexcept;
  std::size_t find(std::byte const* frame, std::size_t at) const noexcept;
  static std::byte const* read(python_runtime const& python, std::byte const* frame,
                               known_frame& into) noexcept;
  outcome keep(known_frame const* fresh, std::size_t size, std::size_t tail,
               std::size_t changed) noexcept;

  std::size_t begin_ = capacity;  // the innermost frame
  std::byte const* module_call_ = nullptr;
  // The outermost frame lies at the end, so that it stays in its place while others come and go.
  // Memory that is not used is not touched.
  std::array<known_frame, capacity + 1> frames_;  // the last one is none, and always null
  std::array<sum, capacity> sums_;
  std::array<bool, capacity> is_described_;
  std::array<log_frame, capacity> descriptions_;
};

}  // namespace gpuprof::guest
