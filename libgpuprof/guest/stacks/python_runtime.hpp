// SPDX-License-Identifier: Apache-2.0
// The CPython that this process runs: where its structs keep what a stack needs, and how to read it
// on the thread that owns it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gpuprof::guest {

/// Offsets in bytes in the structs of one version of CPython, from its headers.
struct python_layout {
  bool has_c_frame;  // 3.11 and 3.12 have a _PyCFrame between the thread state and its frame
  std::uint16_t state_to_frame, c_frame_to_frame, state_to_chunk;
  std::uint16_t frame_code, frame_previous, frame_instruction;
  std::uint16_t frame_owner;  // 0: frames have none that must be left out
  std::uint16_t code_first_line, code_filename, code_name, code_lines, code_bytecode;
  std::uint16_t code_identity;  // eight bytes that differ between code objects of one address
  bool identity_may_return;     // those bytes may be the same in the next code object there
  std::uint16_t ascii_text;     // where the characters of an ASCII text begin; others are
  std::uint16_t other_text;     // here
  std::uint16_t frame_locals;   // the first is `self` in a method
  // Where the attributes of an object are if it has no dict of its own:
  enum class attributes : std::uint8_t {
    behind_pointer,  // four words before the object
    tagged_pointer,  // three words before it, instead of the dict, with the lowest bit set
    in_object        // behind what its type says of its size
  } values;
  std::uint16_t values_begin;  // in the struct that is there
  std::uint16_t type_keys;     // the keys of these values, in a heap type
  std::uint16_t state_next, state_os_thread;
  std::uint16_t interpreter_threads;
  std::uint16_t interpreter_gil;  // a pointer; 0: the GIL is a part of
  std::uint16_t runtime_gil;      // _PyRuntime
};

/// The layout of CPython `version` (0x030C01F0 is 3.12.1), or null if it is not known.
python_layout const* python_layout_of(unsigned long version) noexcept;

/// A place in a Python program: a code object, and an instruction in it. `module`: the module of
/// PyTorch that this frame calls, else null.
struct python_position {  // without initial values, because hundreds of them are on a stack
  std::byte const* code;
  std::byte const* instruction;
  std::byte const* module;
  friend bool operator==(python_position const&, python_position const&) = default;
};

/// Memory that is known to be there: what belongs to the frames of the calling thread, which stands
/// in a function that one of them has called. They can neither move nor end, and the GIL is not
/// needed.
struct own_frames {
  static constexpr bool may_fail = false;
  static bool copy(std::byte const* from, std::span<std::byte> into) noexcept {
    __builtin_memcpy(into.data(), from, into.size());
    return true;
  }
};

/// Memory of another thread, which may change or vanish while it is read. It is read through the
/// kernel, so that missing memory is an error; a part is read in advance.
class frames_of_other {
 public:
  static constexpr bool may_fail = true;
  /// `ahead` is filled with what lies before `end`, beginning at `from`. `process`: the child
  /// process that has the thread; 0: this process.
  frames_of_other(std::uint32_t process, std::byte const* from, std::byte const* end,
                  std::span<std::byte> ahead) noexcept;
  bool copy(std::byte const* from, std::span<std::byte> into) const noexcept;

 private:
  std::uint32_t process_;
  std::uintptr_t from_;
  std::span<std::byte const> ahead_;
};

/// Any thread, without the GIL.
class python_runtime {
 public:
  struct functions {
    void* (*state_of_this_thread)() = nullptr;  // PyGILState_GetThisThreadState
    int (*is_initialized)() = nullptr;          // Py_IsInitialized; 0 again as soon as Python ends
    void const* code_type = nullptr;            // &PyCode_Type
    void const* text_type = nullptr;            // &PyUnicode_Type
    void const* bytes_type = nullptr;           // &PyBytes_Type
    void* (*main_interpreter)() = nullptr;      // PyInterpreterState_Main
    void const* runtime = nullptr;              // &_PyRuntime
    std::byte const* interpreter = nullptr;     // instead of main_interpreter, in another process
  };
  python_runtime(python_layout const& layout, functions const& entry) noexcept
      : layout_(layout), entry_(entry) {}

  /// Lies in the code of Python.
  void const* some_code() const noexcept {
    return reinterpret_cast<void const*>(entry_.is_initialized);
  }
  /// False before Python is initialized, and as soon as it ends.
  bool runs() const noexcept { return entry_.is_initialized() != 0; }
  /// The PyThreadState of the calling thread; null: it has none, or Python does not run.
  std::byte const* state_of_this_thread() const noexcept {
    return runs() ? static_cast<std::byte const*>(entry_.state_of_this_thread()) : nullptr;
  }
  /// The PyInterpreterState of the main interpreter; null: Python does not run.
  std::byte const* main_interpreter() const noexcept {
    if (entry_.interpreter != nullptr) return entry_.interpreter;
    return runs() && entry_.main_interpreter != nullptr
               ? static_cast<std::byte const*>(entry_.main_interpreter())
               : nullptr;
  }
  /// The GIL of CPython 3.11; null in later versions, where interpreters point to theirs.
  std::byte const* gil_in_runtime() const noexcept {
    return layout_.interpreter_gil == 0 && entry_.runtime != nullptr
               ? behind(static_cast<std::byte const*>(entry_.runtime), layout_.runtime_gil)
               : nullptr;
  }
  /// The innermost frame of a thread, or null. The state must live.
  std::byte const* innermost_frame(std::byte const* state) const noexcept {
    auto const* const holder = load<std::byte const*>(state + layout_.state_to_frame);
    if (!layout_.has_c_frame || holder == nullptr) return holder;
    return load<std::byte const*>(holder + layout_.c_frame_to_frame);
  }
  /// The same of a state that may be gone, in this process (0) or a child process.
  std::byte const* innermost_frame_of_other(std::uint32_t process,
                                            std::byte const* state) const noexcept;
  /// Where the latest frames of a thread lie, as far as they are not those of generators. The state
  /// may be gone.
  std::byte const* frame_memory(std::uint32_t process, std::byte const* state) const noexcept;
  static constexpr std::size_t frame_bytes = 88;  // what is read of a frame

  /// Replaces `frame` by its caller. `at` has no code object if the frame is not one of a Python
  /// function. Returns false if the memory cannot be read.
  template <class Memory>
  bool step(Memory const& memory, std::byte const*& frame, python_position& at) const noexcept {
    std::uint8_t owner = 0;
    std::uintptr_t code = 0;
    at = {};
    if (layout_.frame_owner != 0 && !get(memory, behind(frame, layout_.frame_owner), owner))
      return false;
    if (owner <= max_owner) {
      if (!get(memory, behind(frame, layout_.frame_code), code) ||
          !get(memory, behind(frame, layout_.frame_instruction), at.instruction))
        return false;
      at.code = reinterpret_cast<std::byte const*>(code & ~tags);
      std::uintptr_t self = 0;
      if (at.code != nullptr && at.code == module_call()) {
        if (!get(memory, behind(frame, layout_.frame_locals), self)) return false;
        at.module = reinterpret_cast<std::byte const*>(self & ~tags);
      }
    }
    if constexpr (!Memory::may_fail)  // of another thread this is seen when it is described
      if (at.code != nullptr && type_of(at.code) != entry_.code_type) at.code = nullptr;
    return get(memory, behind(frame, layout_.frame_previous), frame);
  }
  /// Compares frames of the calling thread with what they were before. It has all that it needs, so
  /// that a loop keeps it in registers.
  class frame_check {
   public:
    explicit frame_check(python_runtime const& python) noexcept
        : python_(python),
          module_call_(python.module_call()),
          code_(python.layout_.frame_code),
          instruction_(python.layout_.frame_instruction),
          previous_(python.layout_.frame_previous),
          locals_(python.layout_.frame_locals),
          identity_(python.layout_.code_identity),
          identity_may_return_(python.layout_.identity_may_return) {}
    /// Does the frame still have this code object, instruction and module? The code object's type
    /// was compared before; with the same identity it is the same one. So is the frame's owner:
    /// code objects that stand for calls from C stand for nothing else.
    bool is_at(std::byte const* frame, python_position const& at,
               std::uint64_t identity) const noexcept {
      return untagged(frame + code_) == at.code &&
             load<std::byte const*>(frame + instruction_) == at.instruction &&
             (at.code != module_call_ || untagged(frame + locals_) == at.module) &&
             (identity_may_return_ ? python_.identity_of(at.code)
                                   : load<std::uint64_t>(at.code + identity_)) == identity;
    }
    std::byte const* caller_of(std::byte const* frame) const noexcept {
      return load<std::byte const*>(frame + previous_);
    }

   private:
    python_runtime const& python_;
    std::byte const* const module_call_;
    std::size_t const code_, instruction_, previous_, locals_, identity_;
    bool const identity_may_return_;
  };
  template <class Memory>
  bool is_code(Memory const& memory, std::byte const* object) const noexcept {
    void const* type = nullptr;
    return get(memory, behind(object, sizeof(void*)), type) && type == entry_.code_type;
  }
  std::uint64_t identity_of(std::byte const* code) const noexcept {
    auto const identity = load<std::uint64_t>(code + layout_.code_identity);
    auto const* const name = load<std::byte const*>(code + layout_.code_name);
    return layout_.identity_may_return && name == module_name_.load(std::memory_order_relaxed)
               ? identity ^ content_of(code)
               : identity;
  }

  template <class Memory>
  std::uint32_t first_line(Memory const& memory, std::byte const* code) const noexcept {
    std::int32_t line = 0;
    return get(memory, behind(code, layout_.code_first_line), line) && line > 0
               ? static_cast<std::uint32_t>(line)
               : 0;
  }
  /// Uses `scratch` for the table of lines; what does not fit gives the first line.
  template <class Memory>
  std::uint32_t line(Memory const& memory, python_position const& at,
                     std::span<std::byte> scratch) const noexcept;
  /// Return UTF-8, cut at the size of `into`; empty if it is no text of Python.
  template <class Memory>
  std::string_view file_name(Memory const& memory, std::byte const* code,
                             std::span<char> into) const noexcept {
    return text_at(memory, behind(code, layout_.code_filename), into);
  }
  template <class Memory>
  std::string_view function_name(Memory const& memory, std::byte const* code,
                                 std::span<char> into) const noexcept {
    return text_at(memory, behind(code, layout_.code_name), into);
  }
  /// Of a str.
  template <class Memory>
  std::string_view text(Memory const& memory, std::byte const* object,
                        std::span<char> into) const noexcept;

  /// The code object of torch.nn.Module._wrapped_call_impl, through which modules are called, once
  /// it has been seen.
  std::byte const* module_call() const noexcept {
    return module_call_.load(std::memory_order_relaxed);
  }
  void is_module_call(std::byte const* code) const noexcept {
    module_call_.store(code, std::memory_order_relaxed);
  }
  /// `code` of the caller's own frame is named "<module>", by the one text that all such code has.
  void is_code_of_module(std::byte const* code) const noexcept {
    module_name_.store(load<std::byte const*>(code + layout_.code_name), std::memory_order_relaxed);
  }
  python_layout const& layout() const noexcept { return layout_; }
  /// The data of this CPython where its file is mapped so many bytes further; no functions.
  functions functions_at(std::ptrdiff_t distance) const noexcept;

  /// Addresses of another thread may be anything, so they are added as numbers.
  static std::byte const* behind(std::byte const* from, std::size_t bytes) noexcept {
    return reinterpret_cast<std::byte const*>(reinterpret_cast<std::uintptr_t>(from) + bytes);
  }

 private:
  // Owners: 0 thread, 1 generator, 2 frame object; frames of others stand for calls from C.
  static constexpr std::uint8_t max_owner = 2;
  static constexpr std::uintptr_t tags = 3;  // 3.14 marks pointers in their lowest bits

  template <class T>
  static T load(std::byte const* from) noexcept {
    T value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
  }
  static std::byte const* untagged(std::byte const* from) noexcept {
    return reinterpret_cast<std::byte const*>(load<std::uintptr_t>(from) & ~tags);
  }
  template <class Memory, class T>
  static bool get(Memory const& memory, std::byte const* from, T& into) noexcept {
    return memory.copy(from, std::as_writable_bytes(std::span(&into, 1)));
  }
  static void const* type_of(std::byte const* object) noexcept {
    return load<void const*>(object + sizeof(void*));
  }
  /// Some bytes of its file's name and of its lines: code of modules, notebook cells and exec()
  /// ends often, and the next has all its parts at the same addresses.
  std::uint64_t content_of(std::byte const* code) const noexcept;
  template <class Memory>
  std::string_view text_at(Memory const& memory, std::byte const* member,
                           std::span<char> into) const noexcept {
    std::byte const* object = nullptr;
    return get(memory, member, object) ? text(memory, object, into) : std::string_view{};
  }

  python_layout const& layout_;
  functions const entry_;
  mutable std::atomic<std::byte const*> module_call_{nullptr};
  mutable std::atomic<std::byte const*> module_name_{nullptr};
};

/// Looks for CPython among the loaded libraries. Null, and no `reason`: there is none. Null with a
/// `reason`, one sentence without its stop: there is one whose stacks cannot be read. The first
/// runtime found stays for the life of the process.
python_runtime const* find_python(std::string& reason);

}  // namespace gpuprof::guest
