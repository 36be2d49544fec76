// SPDX-License-Identifier: Apache-2.0
// Turns the mangled name of a kernel into what a reader wants to see.
#pragma once

#include <string>
#include <string_view>

namespace gpuprof {

enum class kernel_name_style {
  demangled,  // void scale<float>(float*, int)
  base,       // scale
  mangled,    // _Z5scaleIfEvPT_i
};

/// The name itself where it is not a mangled C++ name.
std::string kernel_display_name(std::string_view mangled, kernel_name_style style);

// Tells kernels that wait for other GPUs by their names.

/// As kernels_of_collectives() has them, mangled or not, by plain comparison: tens of times as fast
/// as std::regex, whose locale is no matter for several threads besides.
bool is_named_as_collective(std::string_view kernel) noexcept;

}  // namespace gpuprof
