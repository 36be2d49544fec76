// SPDX-License-Identifier: Apache-2.0
#include "names/kernel_name.hpp"

#include <cstdlib>
#include <cxxabi.h>
#include <llvm/Demangle/Demangle.h>
#include <memory>
#include <new>

// LLVM's demangler calls this where it called std::terminate(): when malloc() has returned null. See
// tools/cmake/gpuprof_dependencies.cmake.
extern "C" [[noreturn]] void gpuprof_no_memory_to_demangle() {
  throw std::bad_alloc();
}

namespace gpuprof {
namespace {

struct released {
  void operator()(char* memory) const noexcept { std::free(memory); }
};
using c_text = std::unique_ptr<char, released>;

// Taking a name apart needs up to 250 bytes of stack for each of its own. The longest of PyTorch
// and cuDNN is 4,531 long.
constexpr std::size_t max_taken_apart = 8 << 10;

/// Null: it is no mangled C++ name. Throws when there is no memory, as the next.
c_text demangled(std::string const& mangled) {
  constexpr int no_memory = -1;
  int status = 0;
  c_text text(abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status));
  if (status == no_memory) throw std::bad_alloc();
  return text;
}

/// Null: it is no mangled name of a function.
c_text base_of(std::string const& mangled) {
  if (mangled.size() > max_taken_apart) return nullptr;
  llvm::ItaniumPartialDemangler parts;
  constexpr bool failed = true;
  if (parts.partialDemangle(mangled.c_str()) == failed || !parts.isFunction()) return nullptr;
  std::size_t size = 0;
  return c_text(parts.getFunctionBaseName(nullptr, &size));
}

}  // namespace

std::string kernel_display_name(std::string_view mangled, kernel_name_style style) {
  std::string name(mangled);
  if (style == kernel_name_style::mangled || !mangled.starts_with("_Z")) return name;
  auto const shown = style == kernel_name_style::base ? base_of(name) : demangled(name);
  return shown != nullptr ? std::string(shown.get()) : name;
}

}  // namespace gpuprof
