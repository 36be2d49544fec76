// SPDX-License-Identifier: Apache-2.0
#include "names/kernel_name.hpp"

#include "base/quiet_thread.hpp"

#include <cstdlib>
#include <cxxabi.h>
#include <llvm/Demangle/Demangle.h>
#include <memory>
#include <pthread.h>
#include <utility>

namespace gpuprof {
namespace {

struct released {
  void operator()(char* memory) const noexcept { std::free(memory); }
};
using c_text = std::unique_ptr<char, released>;

// Taking a name apart needs up to 250 bytes of stack for each byte of the name. The longest name in
// PyTorch and cuDNN has 4,531 bytes.
constexpr std::size_t max_on_this_stack = 8 << 10;
constexpr std::size_t max_taken_apart = 64 << 10;
constexpr std::size_t stack_per_byte = 320;

/// Null: it is no mangled C++ name.
c_text demangled(std::string const& mangled) {
  int status = 0;
  return c_text(abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status));
}

/// Null: it is no mangled name of a function.
c_text base_of(std::string const& mangled) {
  llvm::ItaniumPartialDemangler parts;
  constexpr bool failed = true;
  if (parts.partialDemangle(mangled.c_str()) == failed || !parts.isFunction()) return nullptr;
  std::size_t size = 0;
  return c_text(parts.getFunctionBaseName(nullptr, &size));
}

using reading = c_text (*)(std::string const&);

/// Reads a long name on a thread whose stack is large enough for it. Null if there is no such
/// thread.
c_text on_large_stack(reading read, std::string const& mangled) {
  struct request {
    reading read;
    std::string const& mangled;
    c_text found;
  } asked{read, mangled, nullptr};
  auto const answer = [](void* context) -> void* {
    auto& of = *static_cast<request*>(context);
    of.found = of.read(of.mangled);
    return nullptr;
  };
  pthread_t thread;
  auto const stack = (1u << 20) + stack_per_byte * mangled.size();
  if (start_quiet_thread(thread, "gpuprof-names", stack, answer, &asked) != 0) return nullptr;
  pthread_join(thread, nullptr);
  return std::move(asked.found);
}

}  // namespace

std::string kernel_display_name(std::string_view mangled, kernel_name_style style) {
  std::string name(mangled);
  if (style == kernel_name_style::mangled || !mangled.starts_with("_Z") ||
      name.size() > max_taken_apart)
    return name;
  reading const read = style == kernel_name_style::base ? base_of : demangled;
  auto const shown = name.size() <= max_on_this_stack ? read(name) : on_large_stack(read, name);
  return shown != nullptr ? std::string(shown.get()) : name;
}

}  // namespace gpuprof
