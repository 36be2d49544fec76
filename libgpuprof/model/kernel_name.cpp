// SPDX-License-Identifier: Apache-2.0
#include "model/kernel_name.hpp"

#include "base/quiet_thread.hpp"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <iterator>
#include <llvm/Demangle/Demangle.h>
#include <memory>
#include <new>
#include <pthread.h>
#include <utility>

// The build makes LLVM's demangler call this instead of std::terminate() when malloc() returns
// null. See tools/cmake/gpuprof_dependencies.cmake.
extern "C" [[noreturn]] void gpuprof_no_memory_to_demangle() {
  throw std::bad_alloc();
}

namespace gpuprof {
namespace {

struct released {
  void operator()(char* memory) const noexcept { std::free(memory); }
};
using c_text = std::unique_ptr<char, released>;

// Demangling needs up to 250 bytes of stack per byte of the name. The longest name in PyTorch and
// cuDNN has 4,531 bytes.
constexpr std::size_t max_on_this_stack = 8 << 10;
constexpr std::size_t max_taken_apart = 64 << 10;
constexpr std::size_t stack_per_byte = 320;

/// Returns null if the name is not a mangled C++ name. Throws if there is no memory.
c_text demangled(std::string const& mangled) {
  constexpr int no_memory = -1;
  int status = 0;
  c_text text(abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status));
  if (status == no_memory) throw std::bad_alloc();
  if (text != nullptr || mangled.size() <= max_on_this_stack) return text;
  llvm::ItaniumPartialDemangler parts;  // __cxa_demangle refuses some long names
  std::size_t size = 0;
  return parts.partialDemangle(mangled.c_str()) ? nullptr
                                                : c_text(parts.finishDemangle(nullptr, &size));
}

/// Returns null if the name is not the mangled name of a function. Throws if there is no memory.
c_text base_of(std::string const& mangled) {
  llvm::ItaniumPartialDemangler parts;
  constexpr bool failed = true;
  if (parts.partialDemangle(mangled.c_str()) == failed || !parts.isFunction()) return nullptr;
  std::size_t size = 0;
  return c_text(parts.getFunctionBaseName(nullptr, &size));
}

/// The same with namespaces and classes.
c_text qualified_of(std::string const& mangled) {
  llvm::ItaniumPartialDemangler parts;
  constexpr bool failed = true;
  if (parts.partialDemangle(mangled.c_str()) == failed) return nullptr;
  std::size_t size = 0;
  return c_text(parts.isFunction() ? parts.getFunctionName(nullptr, &size)
                                   : parts.finishDemangle(nullptr, &size));
}

using reading = c_text (*)(std::string const&);

/// Demangles a long name on a thread with a stack that is large enough. Returns null if no thread
/// could be started. Throws if there is no memory.
c_text on_large_stack(reading read, std::string const& mangled) {
  struct request {
    reading read;
    std::string const& mangled;
    c_text found;
    bool had_memory;
  } asked{read, mangled, nullptr, true};
  auto const answer = [](void* context) -> void* {
    auto& of = *static_cast<request*>(context);
    try {
      of.found = of.read(of.mangled);
    } catch (...) {
      of.had_memory = false;
    }
    return nullptr;
  };
  pthread_t thread;
  auto const stack = (1u << 20) + stack_per_byte * mangled.size();
  if (start_quiet_thread(thread, "gpuprof-names", stack, answer, &asked) != 0) return nullptr;
  pthread_join(thread, nullptr);
  if (!asked.had_memory) throw std::bad_alloc();
  return std::move(asked.found);
}

/// The position of the bracket that the last character closes, or npos.
std::size_t opening_of_last(std::string_view text, char opening) noexcept {
  auto const closing = text.back();
  std::size_t depth = 0;
  for (auto at = text.size(); at-- > 0;) {
    if (text[at] == closing) ++depth;
    if (text[at] == opening && --depth == 0) return at;
  }
  return std::string_view::npos;
}

/// Traces of others have names with parameters: "void ns::scale<float>(float*, int)" is "scale".
/// Returns other names unchanged.
std::string_view base_of_signature(std::string_view name) noexcept {
  if (!name.ends_with(')')) return name;
  auto rest = name.substr(0, std::min(name.size(), opening_of_last(name, '(')));
  if (rest.ends_with('>')) rest = rest.substr(0, std::min(rest.size(), opening_of_last(rest, '<')));
  auto const before = rest.find_last_of(": ");
  auto const base = before == std::string_view::npos ? rest : rest.substr(before + 1);
  return base.empty() || base.size() == name.size() ? name : base;
}

std::string shown_name(std::string_view mangled, reading read) {
  std::string name(mangled);
  if (!mangled.starts_with("_Z") || name.size() > max_taken_apart) return name;
  auto const shown = name.size() <= max_on_this_stack ? read(name) : on_large_stack(read, name);
  return shown != nullptr ? std::string(shown.get()) : name;
}

}  // namespace

std::string kernel_display_name(std::string_view mangled, kernel_name_style style) {
  if (style == kernel_name_style::mangled) return std::string(mangled);
  if (style == kernel_name_style::base && !mangled.starts_with("_Z"))
    return std::string(base_of_signature(mangled));
  return shown_name(mangled, style == kernel_name_style::base ? base_of : demangled);
}

std::string function_display_name(std::string_view mangled) {
  // Parts of a function: "_Z4stepi.isra.0", "_Z4stepi.cold".
  if (mangled.starts_with("_Z")) mangled = mangled.substr(0, mangled.find('.'));
  return shown_name(mangled, qualified_of);
}

}  // namespace gpuprof

namespace gpuprof {
namespace {

/// In lower case. '?' stands for an optional underscore.
constexpr std::string_view words[] = {"nccl",
                                      "nvshmem",
                                      "mscclpp",
                                      "deep_ep",
                                      "ep::internode",
                                      "ep::intranode",
                                      "cross_device_reduce",
                                      "all?reduce",
                                      "all?gather",
                                      "reduce?scatter",
                                      "all?to?all",
                                      "moea2a",
                                      "multimem",
                                      "symm?mem",
                                      "symmetric?mem",
                                      "userbuffers",
                                      "lamport"};

constexpr char small(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool starts_with(std::string_view text, std::string_view word) noexcept {
  for (auto const c : word) {
    if (c == '?') {
      if (!text.empty() && text.front() == '_') text.remove_prefix(1);
      continue;
    }
    if (text.empty() || small(text.front()) != c) return false;
    text.remove_prefix(1);
  }
  return true;
}

}  // namespace

bool is_named_as_collective(std::string_view kernel) noexcept {
  for (; !kernel.empty(); kernel.remove_prefix(1))
    if (std::any_of(std::begin(words), std::end(words),
                    [&](auto const word) { return starts_with(kernel, word); }))
      return true;
  return false;
}

}  // namespace gpuprof
