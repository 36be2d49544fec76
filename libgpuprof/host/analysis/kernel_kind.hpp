// SPDX-License-Identifier: Apache-2.0
// The kind of work that a kernel does, told by its name, else by its machine code.
#pragma once

#include "model/kernel_code.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gpuprof::host {

enum class kernel_kind : std::uint8_t {
  product,        // matrix products and matrix times vector
  convolution,    //
  attention,      // fused kernels
  elementwise,    // arithmetic on single elements
  arithmetic,     // on CUDA cores, of a pattern that is not known: told by the code alone
  reduction,      // sums, softmax, normalization, losses, scans
  moves,          // copies, casts, layouts, gathers, scatters, fills: no arithmetic
  random,         // random numbers
  sort,           // sort and select
  optimizer,      // fused or over lists of tensors
  communication,  // collectives
  factorization,  // LU, QR, Cholesky, eigenvalues, singular values, triangular solves
  fft,            //
  tuning,         // what a library runs only to find its fastest kernel
  other,          // not known
};
inline constexpr std::size_t kernel_kind_count = 15;

/// "product", "moves only": for tables. `key_of`: "product", "moves", for JSON and CSV.
std::string_view name_of(kernel_kind kind) noexcept;
std::string_view key_of(kernel_kind kind) noexcept;

/// What a kernel does.
struct kernel_work {
  kernel_kind kind = kernel_kind::other;
  std::string_view does = {};  // of moves and a few others: "concatenates tensors"; else empty
  bool adds_by_atomics = false;
  bool is_of_library = false;  // a layout that a library needs for its own kernels
  bool is_fp64 = false;        // an elementwise kernel, reduction or move of doubles
  bool is_fp32 = false;        // an elementwise kernel of floats
  bool is_told_by_code = false;
};

/// Takes a demangled name, with or without arguments, or one that cannot be demangled.
///
/// Knows the names of PyTorch, cuDNN, cuBLAS, CUTLASS, flash-attention, Triton as Inductor names
/// its kernels, XLA's fusions, CuPy, CUB and NCCL.
kernel_work work_of(std::string_view kernel_name);

/// The same; a kernel with a name that says nothing is told by the instructions of its code: with
/// tensor cores a product, without arithmetic on floats moves only, with exchange between lanes a
/// reduction, else arithmetic. `code` may be nullptr. Integers that lanes exchange may be sorted:
/// other.
kernel_work work_of(std::string_view kernel_name, kernel_code const* code);

}  // namespace gpuprof::host
