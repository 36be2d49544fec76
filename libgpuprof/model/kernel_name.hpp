// SPDX-License-Identifier: Apache-2.0
// Turns the mangled name of a kernel into a readable one.
#pragma once

#include <string>
#include <string_view>

namespace gpuprof {

enum class kernel_name_style {
  demangled,  // void scale<float>(float*, int)
  base,       // scale
  mangled,    // _Z5scaleIfEvPT_i
  kind,       // elementwise: the kind of its work; only where kernels are labeled
};

/// Returns the name unchanged if it is not a mangled C++ name. Names with parameters, as traces of
/// others have them, have a base name, too.
std::string kernel_display_name(std::string_view mangled, kernel_name_style style);
/// Of a function of the CPU: "ns::step<int>", without parameters. Returns the name unchanged if it
/// is not a mangled C++ name.
std::string function_display_name(std::string_view mangled);

// Recognizes kernels that wait for other GPUs by their names.

/// Accepts the names of kernels_of_collectives(), mangled or not. Uses plain comparison: ten or
/// more times as fast as std::regex, and without its locale, which threads share.
bool is_named_as_collective(std::string_view kernel) noexcept;

}  // namespace gpuprof
