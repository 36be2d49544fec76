// SPDX-License-Identifier: Apache-2.0
#include "guest/stacks/python_runtime.hpp"

#include "base/own_memory.hpp"
#include "base/real_dlsym.hpp"
#include "guest/nvtx/text.hpp"
#include "guest/stacks/line_table.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <dlfcn.h>

namespace gpuprof::guest {
namespace {

// The same in all these versions: PyVarObject, PyBytesObject, PyASCIIObject.
constexpr std::size_t size_of_bytes = 16, content_of_bytes = 32;
constexpr std::size_t length_of_text = 16, state_of_text = 32;
constexpr unsigned kind_shift = 2, kind_mask = 7, is_compact = 1 << 5, is_ascii = 1 << 6;

// 3.11.7, 3.12.1, 3.13.0, 3.14.8 and 3.15.0. Structs do not change within a version.
constexpr python_layout layout_3_11{.has_c_frame = true,
                                    .state_to_frame = 56,
                                    .c_frame_to_frame = 8,
                                    .state_to_chunk = 296,
                                    .frame_code = 32,
                                    .frame_previous = 48,
                                    .frame_instruction = 56,
                                    .frame_owner = 0,
                                    .code_first_line = 72,
                                    .code_filename = 112,
                                    .code_name = 128,
                                    .code_lines = 136,
                                    .code_bytecode = 184,
                                    .code_identity = 136,  // its lines
                                    .identity_may_return = true,
                                    .ascii_text = 48,
                                    .other_text = 72,
                                    .frame_locals = 72,
                                    .values = python_layout::attributes::behind_pointer,
                                    .values_begin = 0,
                                    .type_keys = 872,
                                    .state_next = 8,
                                    .state_os_thread = 160,
                                    .interpreter_threads = 16,
                                    .interpreter_gil = 0,
                                    .runtime_gil = 360};
constexpr python_layout layout_3_12{.has_c_frame = true,
                                    .state_to_frame = 56,
                                    .c_frame_to_frame = 0,
                                    .state_to_chunk = 232,
                                    .frame_code = 0,
                                    .frame_previous = 8,
                                    .frame_instruction = 56,
                                    .frame_owner = 70,
                                    .code_first_line = 68,
                                    .code_filename = 112,
                                    .code_name = 128,
                                    .code_lines = 136,
                                    .code_bytecode = 192,
                                    .code_identity = 88,  // co_version is its second half
                                    .identity_may_return = false,
                                    .ascii_text = 40,
                                    .other_text = 56,
                                    .frame_locals = 72,
                                    .values = python_layout::attributes::tagged_pointer,
                                    .values_begin = 0,
                                    .type_keys = 880,
                                    .state_next = 8,
                                    .state_os_thread = 144,
                                    .interpreter_threads = 72,
                                    .interpreter_gil = 384,
                                    .runtime_gil = 0};
constexpr python_layout layout_3_13 = [] {
  auto layout = layout_3_12;
  layout.has_c_frame = false;
  layout.state_to_frame = 72;
  layout.code_bytecode = 200;
  layout.values = python_layout::attributes::in_object;
  layout.values_begin = 8;
  layout.state_os_thread = 160;
  layout.interpreter_threads = 7344;
  layout.interpreter_gil = 16;
  return layout;
}();
constexpr python_layout layout_3_14 = [] {
  auto layout = layout_3_13;
  layout.frame_owner = 74;
  layout.frame_locals = 80;
  layout.code_bytecode = 208;
  return layout;
}();
constexpr python_layout layout_3_15 = [] {
  auto layout = layout_3_14;
  layout.state_to_chunk = 256;
  layout.type_keys = 888;
  layout.state_os_thread = 184;
  layout.interpreter_threads = 7336;
  return layout;
}();
constexpr std::array<python_layout const*, 5> layouts{&layout_3_11, &layout_3_12, &layout_3_13,
                                                      &layout_3_14, &layout_3_15};
constexpr unsigned long oldest_minor = 11;

/// Builds without a GIL have other structs. _Py_DebugOffsets tells, from 3.13 on.
bool is_free_threaded(void const* runtime) noexcept {
  constexpr std::string_view cookie = "xdebugpy";
  if (runtime == nullptr || std::memcmp(runtime, cookie.data(), cookie.size()) != 0) return false;
  std::uint64_t free_threaded = 0;
  std::memcpy(&free_threaded, static_cast<std::byte const*>(runtime) + 16, sizeof free_threaded);
  return free_threaded != 0;
}

std::string version_text(unsigned long version) {
  return "CPython " + std::to_string(version >> 24) + '.' + std::to_string((version >> 16) & 255);
}

void* symbol(char const* name) noexcept {
  return real_dlsym()(RTLD_DEFAULT, name);
}

template <class Function>
void find(char const* name, Function& into) noexcept {
  into = reinterpret_cast<Function>(symbol(name));
}

}  // namespace

python_layout const* python_layout_of(unsigned long version) noexcept {
  auto const minor = (version >> 16) & 255;
  auto const is_known =
      version >> 24 == 3 && minor >= oldest_minor && minor < oldest_minor + layouts.size();
  return is_known ? layouts[minor - oldest_minor] : nullptr;
}

frames_of_other::frames_of_other(std::uint32_t process, std::byte const* from, std::byte const* end,
                                 std::span<std::byte> ahead) noexcept
    : process_(process), from_(reinterpret_cast<std::uintptr_t>(from)) {
  auto const bytes = reinterpret_cast<std::uintptr_t>(end) - from_;
  if (from == nullptr || end <= from || bytes > ahead.size()) return;
  if (read_memory_of(process_, from_, ahead.first(bytes))) ahead_ = ahead.first(bytes);
}

bool frames_of_other::copy(std::byte const* from, std::span<std::byte> into) const noexcept {
  auto const address = reinterpret_cast<std::uintptr_t>(from);
  auto const offset = address - from_;  // large if it lies before
  if (offset < ahead_.size() && into.size() <= ahead_.size() - offset) {
    std::memcpy(into.data(), ahead_.data() + offset, into.size());
    return true;
  }
  return read_memory_of(process_, address, into);
}

python_runtime::functions python_runtime::functions_at(std::ptrdiff_t distance) const noexcept {
  auto const moved = [distance](void const* at) {
    return at != nullptr
               ? behind(static_cast<std::byte const*>(at), static_cast<std::size_t>(distance))
               : nullptr;
  };
  functions there;
  there.code_type = moved(entry_.code_type);
  there.text_type = moved(entry_.text_type);
  there.bytes_type = moved(entry_.bytes_type);
  there.runtime = moved(entry_.runtime);
  there.interpreter = moved(main_interpreter());  // a part of _PyRuntime since CPython 3.11
  return there;
}

std::uint64_t python_runtime::content_of(std::byte const* code) const noexcept {
  constexpr std::uint64_t odd = 0x9E3779B97F4A7C15ull;
  auto const* const file = load<std::byte const*>(code + layout_.code_filename);
  auto const* const lines = load<std::byte const*>(code + layout_.code_lines);
  if (file == nullptr || lines == nullptr) return 0;
  auto const length = load<std::size_t>(file + length_of_text);
  auto content = length;
  if (length >= sizeof content && (load<std::uint32_t>(file + state_of_text) & is_ascii) != 0)
    content = load<std::uint64_t>(file + layout_.ascii_text + length - sizeof content);
  auto const bytes = load<std::size_t>(lines + size_of_bytes);
  std::array<std::uint64_t, 3> first{bytes};
  std::memcpy(&first[1], lines + content_of_bytes, std::min(bytes, 2 * sizeof(std::uint64_t)));
  for (auto const word : first) content = (content ^ word) * odd;
  return content;
}

std::byte const* python_runtime::innermost_frame_of_other(std::uint32_t process,
                                                          std::byte const* state) const noexcept {
  frames_of_other const memory(process, nullptr, nullptr, {});
  std::byte const* frame = nullptr;
  if (state == nullptr || !get(memory, behind(state, layout_.state_to_frame), frame))
    return nullptr;
  if (!layout_.has_c_frame || frame == nullptr) return frame;
  return get(memory, behind(frame, layout_.c_frame_to_frame), frame) ? frame : nullptr;
}

std::byte const* python_runtime::frame_memory(std::uint32_t process,
                                              std::byte const* state) const noexcept {
  std::byte const* chunk = nullptr;
  get(frames_of_other(process, nullptr, nullptr, {}), behind(state, layout_.state_to_chunk), chunk);
  return chunk;
}

template <class Memory>
std::uint32_t python_runtime::line(Memory const& memory, python_position const& at,
                                   std::span<std::byte> scratch) const noexcept {
  auto const first = first_line(memory, at.code);
  std::byte const* lines = nullptr;
  void const* type = nullptr;
  std::size_t bytes = 0;
  if (!get(memory, behind(at.code, layout_.code_lines), lines) || lines == nullptr ||
      !get(memory, behind(lines, sizeof(void*)), type) || type != entry_.bytes_type ||
      !get(memory, behind(lines, size_of_bytes), bytes))
    return first;
  auto const table = scratch.first(std::min(bytes, scratch.size()));
  if (!memory.copy(behind(lines, content_of_bytes), table)) return first;
  return line_of_instruction(
      {reinterpret_cast<std::uint8_t const*>(table.data()), table.size()}, first,
      static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(at.instruction) -
                                reinterpret_cast<std::uintptr_t>(at.code) - layout_.code_bytecode));
}

// Texts are not converted by PyUnicode_AsUTF8, which would need the GIL to keep its result.
template <class Memory>
std::string_view python_runtime::text(Memory const& memory, std::byte const* object,
                                      std::span<char> into) const noexcept {
  void const* type = nullptr;
  std::size_t length = 0;
  std::uint32_t state = 0;
  if (object == nullptr || !get(memory, behind(object, sizeof(void*)), type) ||
      type != entry_.text_type || !get(memory, behind(object, length_of_text), length) ||
      !get(memory, behind(object, state_of_text), state))
    return {};
  auto const width = (state >> kind_shift) & kind_mask;
  auto const is_known = width == 1 || width == 2 || width == 4;
  if ((state & is_compact) == 0 || !is_known) return {};
  if ((state & is_ascii) != 0) {
    auto const part = into.first(std::min(length, into.size()));
    auto const is_read =
        memory.copy(behind(object, layout_.ascii_text), std::as_writable_bytes(part));
    return is_read ? std::string_view(part.data(), part.size()) : std::string_view{};
  }
  std::size_t used = 0;
  for (std::size_t i = 0; i < length && used + 4 <= into.size(); ++i) {
    std::array<std::byte, 4> bytes{};
    if (!memory.copy(behind(object, layout_.other_text + i * width), std::span(bytes).first(width)))
      return {};
    char32_t character = 0;
    std::memcpy(&character, bytes.data(), sizeof character);
    used += put_utf8(character, into.data() + used);
  }
  return {into.data(), used};
}

template std::uint32_t python_runtime::line(own_frames const&, python_position const&,
                                            std::span<std::byte>) const noexcept;
template std::uint32_t python_runtime::line(frames_of_other const&, python_position const&,
                                            std::span<std::byte>) const noexcept;
template std::string_view python_runtime::text(own_frames const&, std::byte const*,
                                               std::span<char>) const noexcept;
template std::string_view python_runtime::text(frames_of_other const&, std::byte const*,
                                               std::span<char>) const noexcept;

python_runtime const* find_python(std::string& reason) {
  static python_runtime const* found = nullptr;  // never destroyed; the caller's thread only
  if (found != nullptr) return found;
  python_runtime::functions entry;
  find("PyGILState_GetThisThreadState", entry.state_of_this_thread);
  if (entry.state_of_this_thread == nullptr) return nullptr;
  auto const* const version = static_cast<unsigned long const*>(symbol("Py_Version"));
  if (version == nullptr) {
    reason = "this CPython is older than 3.11";
    return nullptr;
  }
  find("Py_IsInitialized", entry.is_initialized);
  find("PyInterpreterState_Main", entry.main_interpreter);
  entry.runtime = symbol("_PyRuntime");
  entry.code_type = symbol("PyCode_Type");
  entry.text_type = symbol("PyUnicode_Type");
  entry.bytes_type = symbol("PyBytes_Type");
  auto const* const layout = python_layout_of(*version);
  if (layout == nullptr)
    reason = version_text(*version) + " is not known; known are 3.11 to 3.15";
  else if (is_free_threaded(symbol("_PyRuntime")))
    reason =
        version_text(*version) + " is a build without a GIL, whose frames are laid out otherwise";
  else if (entry.is_initialized == nullptr || entry.code_type == nullptr ||
           entry.text_type == nullptr || entry.bytes_type == nullptr)
    reason = version_text(*version) + " does not export what is needed";
  else
    found = new python_runtime(*layout, entry);
  return found;
}

}  // namespace gpuprof::guest
