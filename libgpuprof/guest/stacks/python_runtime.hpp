// SPDX-License-Identifier: Apache-2.0
// The CPython that this process runs: where its structs keep what a stack needs, and how to read it
// on the thread that owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gpuprof::guest {

/// Offsets in bytes in the structs of one version of CPython, from its headers.
struct python_layout {
  bool has_c_frame;  // 3.11 and 3.12 have a _PyCFrame between the thread state and its frame
  std::uint16_t state_to_frame, c_frame_to_frame;
  std::uint16_t frame_code, frame_previous, frame_instruction;
  std::uint16_t frame_owner;  // 0: frames have none that must be left out
  std::uint16_t code_first_line, code_filename, code_name, code_lines, code_bytecode;
  std::uint16_t code_identity;  // eight bytes that differ between code objects of one address
  std::uint16_t ascii_text;     // where the characters of an ASCII text begin; others are
  std::uint16_t other_text;     // here
};

/// The layout of CPython `version` (0x030C01F0 is 3.12.1), or null if it is not known.
python_layout const* python_layout_of(unsigned long version) noexcept;

/// One frame of a thread, read while that thread stands inside of it.
struct python_position {
  std::byte const* code = nullptr;  // the code object
  std::byte const* instruction = nullptr;
  friend bool operator==(python_position const&, python_position const&) = default;
};

/// Any thread. Reads only the calling thread's own frames: the thread stands in a function that one
/// of them has called, so they can neither move nor end. The GIL is not needed.
class python_runtime {
 public:
  struct functions {
    void* (*state_of_this_thread)() = nullptr;  // PyGILState_GetThisThreadState
    int (*is_finalizing)() = nullptr;           // Py_IsFinalizing or _Py_IsFinalizing; may be null
    void const* code_type = nullptr;            // &PyCode_Type
    void const* text_type = nullptr;            // &PyUnicode_Type
    void const* bytes_type = nullptr;           // &PyBytes_Type
  };
  python_runtime(python_layout const& layout, functions const& entry) noexcept
      : layout_(layout), entry_(entry) {}

  /// The innermost frame of the calling thread, or null: no Python on this thread, or Python ends.
  std::byte const* innermost_frame() const noexcept {
    if (entry_.is_finalizing != nullptr && entry_.is_finalizing() != 0) return nullptr;
    auto const* const state = static_cast<std::byte const*>(entry_.state_of_this_thread());
    if (state == nullptr) return nullptr;
    auto const* const holder = load<std::byte const*>(state + layout_.state_to_frame);
    if (!layout_.has_c_frame || holder == nullptr) return holder;
    return load<std::byte const*>(holder + layout_.c_frame_to_frame);
  }
  std::byte const* caller_of(std::byte const* frame) const noexcept {
    return load<std::byte const*>(frame + layout_.frame_previous);
  }
  /// Without a code object: the frame is not one of a Python function and is left out.
  python_position position_of(std::byte const* frame) const noexcept {
    if (layout_.frame_owner != 0 && load<std::uint8_t>(frame + layout_.frame_owner) > 2) return {};
    constexpr std::uintptr_t tags = 3;  // 3.14 marks pointers in their lowest bits
    auto const bits = load<std::uintptr_t>(frame + layout_.frame_code) & ~tags;
    auto const* const code = reinterpret_cast<std::byte const*>(bits);
    if (code == nullptr || type_of(code) != entry_.code_type) return {};
    return {code, load<std::byte const*>(frame + layout_.frame_instruction)};
  }
  std::uint64_t identity_of(std::byte const* code) const noexcept {
    return load<std::uint64_t>(code + layout_.code_identity);
  }

  std::uint32_t first_line(std::byte const* code) const noexcept;
  std::uint32_t line(python_position const& at) const noexcept;
  /// Return UTF-8, cut at the size of `into`; empty if it is no text of Python.
  std::string_view file_name(std::byte const* code, std::span<char> into) const noexcept {
    return text(code + layout_.code_filename, into);
  }
  std::string_view function_name(std::byte const* code, std::span<char> into) const noexcept {
    return text(code + layout_.code_name, into);
  }

 private:
  template <class T>
  static T load(std::byte const* from) noexcept {
    T value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
  }
  static void const* type_of(std::byte const* object) noexcept {
    return load<void const*>(object + sizeof(void*));
  }
  std::string_view text(std::byte const* member, std::span<char> into) const noexcept;

  python_layout const& layout_;
  functions const entry_;
};

/// Looks for CPython among the loaded libraries. Null, and no `reason`: there is none. Null with a
/// `reason`, one sentence without its stop: there is one whose stacks cannot be read. The first
/// runtime found stays for the life of the process.
python_runtime const* find_python(std::string& reason);

}  // namespace gpuprof::guest
