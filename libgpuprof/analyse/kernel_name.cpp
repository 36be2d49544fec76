#include "analyse/kernel_name.hpp"

#include <cstdlib>
#include <cxxabi.h>
#include <memory>

namespace gpuprof {
namespace {

std::string demangle(std::string const& mangled) {
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> const text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text != nullptr ? std::string(text.get()) : mangled;
}

/// Where the parameter list begins, seen from outside any template argument or namespace in
/// parentheses: "(anonymous namespace)::f(int)" begins it at the second parenthesis. Operators need
/// no care: CUDA allows none of them to be a kernel.
std::size_t end_of_name(std::string_view text) noexcept {
  int angles = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto const c = text[i];
    if (c == '<') ++angles;
    if (c == '>' && angles > 0) --angles;
    if (c != '(' || angles > 0) continue;
    auto const closing = text.find(')', i);
    if (closing == std::string_view::npos || !text.substr(closing + 1).starts_with("::")) return i;
    i = closing;
  }
  return text.size();
}

/// `name` without its trailing template arguments.
std::string_view without_template_arguments(std::string_view name) noexcept {
  if (!name.ends_with('>')) return name;
  int depth = 0;
  for (auto i = name.size(); i > 0; --i) {
    if (name[i - 1] == '>') ++depth;
    if (name[i - 1] == '<' && --depth == 0) return name.substr(0, i - 1);
  }
  return name;
}

}  // namespace

std::string_view base_name_of(std::string_view demangled) noexcept {
  auto const name = without_template_arguments(demangled.substr(0, end_of_name(demangled)));
  // What stands before the last "::" or blank outside template arguments is scope or return type.
  int depth = 0;
  for (auto i = name.size(); i > 0; --i) {
    auto const c = name[i - 1];
    if (c == '>' || c == ')') ++depth;
    if (c == '<' || c == '(') --depth;
    if (depth == 0 && (c == ':' || c == ' ')) return name.substr(i);
  }
  return name;
}

std::string kernel_display_name(std::string_view mangled, kernel_name_style style) {
  std::string name(mangled);
  if (style == kernel_name_style::mangled || !mangled.starts_with("_Z")) return name;
  auto const demangled = demangle(name);
  if (style == kernel_name_style::demangled) return demangled;
  return std::string(base_name_of(demangled));
}

}  // namespace gpuprof
