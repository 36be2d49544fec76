// SPDX-License-Identifier: Apache-2.0
#include "guest/stacks/python_runtime.hpp"

#include "base/real_dlsym.hpp"
#include "guest/nvtx/text.hpp"
#include "guest/stacks/line_table.hpp"

#include <array>
#include <cstring>
#include <dlfcn.h>

namespace gpuprof::guest {
namespace {

// The same in all these versions: PyVarObject, PyBytesObject, PyASCIIObject.
constexpr std::size_t size_of_bytes = 16, content_of_bytes = 32;
constexpr std::size_t length_of_text = 16, state_of_text = 32;
constexpr unsigned kind_shift = 2, kind_mask = 7, is_compact = 1 << 5, is_ascii = 1 << 6;

constexpr std::size_t max_lines_bytes = 16 << 20, max_text_length = 1 << 20;

// 3.11.7, 3.12.1, 3.13.0, 3.14.8 and 3.15.0. Structs do not change within a version.
constexpr python_layout layout_3_11{.has_c_frame = true,
                                    .state_to_frame = 56,
                                    .c_frame_to_frame = 8,
                                    .frame_code = 32,
                                    .frame_previous = 48,
                                    .frame_instruction = 56,
                                    .frame_owner = 0,
                                    .code_first_line = 72,
                                    .code_filename = 112,
                                    .code_name = 128,
                                    .code_lines = 136,
                                    .code_bytecode = 184,
                                    .code_identity = 136,
                                    .ascii_text = 48,
                                    .other_text = 72};
constexpr python_layout layout_3_12{.has_c_frame = true,
                                    .state_to_frame = 56,
                                    .c_frame_to_frame = 0,
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
                                    .ascii_text = 40,
                                    .other_text = 56};
constexpr python_layout layout_3_13 = [] {
  auto layout = layout_3_12;
  layout.has_c_frame = false;
  layout.state_to_frame = 72;
  layout.code_bytecode = 200;
  return layout;
}();
constexpr python_layout layout_3_14 = [] {
  auto layout = layout_3_13;
  layout.frame_owner = 74;
  layout.code_bytecode = 208;
  return layout;
}();
constexpr std::array<python_layout const*, 5> layouts{&layout_3_11, &layout_3_12, &layout_3_13,
                                                      &layout_3_14, &layout_3_14};
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

char32_t character_at(std::byte const* characters, unsigned width, std::size_t i) noexcept {
  char32_t value = 0;
  std::memcpy(&value, characters + i * width, width);
  return value;
}

}  // namespace

python_layout const* python_layout_of(unsigned long version) noexcept {
  auto const minor = (version >> 16) & 255;
  auto const is_known =
      version >> 24 == 3 && minor >= oldest_minor && minor < oldest_minor + layouts.size();
  return is_known ? layouts[minor - oldest_minor] : nullptr;
}

std::uint32_t python_runtime::first_line(std::byte const* code) const noexcept {
  auto const line = load<std::int32_t>(code + layout_.code_first_line);
  return line > 0 ? static_cast<std::uint32_t>(line) : 0;
}

std::uint32_t python_runtime::line(python_position const& at) const noexcept {
  auto const first = first_line(at.code);
  auto const* const lines = load<std::byte const*>(at.code + layout_.code_lines);
  if (lines == nullptr || type_of(lines) != entry_.bytes_type) return first;
  auto const bytes = load<std::size_t>(lines + size_of_bytes);
  if (bytes > max_lines_bytes) return first;
  auto const* const content = reinterpret_cast<std::uint8_t const*>(lines + content_of_bytes);
  return line_of_instruction({content, bytes}, first,
                             at.instruction - (at.code + layout_.code_bytecode));
}

// Texts are not converted by PyUnicode_AsUTF8, which would need the GIL to keep its result.
std::string_view python_runtime::text(std::byte const* member,
                                      std::span<char> into) const noexcept {
  auto const* const object = load<std::byte const*>(member);
  if (object == nullptr || type_of(object) != entry_.text_type) return {};
  auto const length = load<std::size_t>(object + length_of_text);
  auto const state = load<std::uint32_t>(object + state_of_text);
  auto const width = (state >> kind_shift) & kind_mask;
  auto const is_known = width == 1 || width == 2 || width == 4;
  if ((state & is_compact) == 0 || !is_known || length > max_text_length) return {};
  if ((state & is_ascii) != 0) {
    auto const* const characters = reinterpret_cast<char const*>(object + layout_.ascii_text);
    return {characters, length < into.size() ? length : into.size()};
  }
  std::size_t used = 0;
  for (std::size_t i = 0; i < length && used + 4 <= into.size(); ++i)
    used += put_utf8(character_at(object + layout_.other_text, width, i), into.data() + used);
  return {into.data(), used};
}

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
  find("Py_IsFinalizing", entry.is_finalizing);
  if (entry.is_finalizing == nullptr) find("_Py_IsFinalizing", entry.is_finalizing);
  entry.code_type = symbol("PyCode_Type");
  entry.text_type = symbol("PyUnicode_Type");
  entry.bytes_type = symbol("PyBytes_Type");
  auto const* const layout = python_layout_of(*version);
  if (layout == nullptr)
    reason = version_text(*version) + " is not known; known are 3.11 to 3.15";
  else if (is_free_threaded(symbol("_PyRuntime")))
    reason = version_text(*version) + " is a build without a GIL, whose frames are laid out otherwise";
  else if (entry.code_type == nullptr || entry.text_type == nullptr || entry.bytes_type == nullptr)
    reason = version_text(*version) + " does not export its types";
  else
    found = new python_runtime(*layout, entry);
  return found;
}

}  // namespace gpuprof::guest
