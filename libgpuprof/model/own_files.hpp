// SPDX-License-Identifier: Apache-2.0
// Tells source files of a program from those of the libraries that it uses.
#pragma once

#include <string_view>

namespace gpuprof {

/// Not of an installed package or Python's standard library, and not written by a compiler of
/// PyTorch. `file`: as Python names it.
inline bool is_own_by_default(std::string_view file) noexcept {
  for (std::string_view const part : {"/site-packages/", "/dist-packages/", "/lib/python3",
                                      "/lib64/python3", "/torchinductor_", "/.triton/"})
    if (file.find(part) != file.npos) return false;
  return !file.empty() && !file.starts_with("<frozen ");
}

/// Not of the system, of CUDA, an installed package or Python. `path`: of an executable or a
/// library.
inline bool is_own_binary(std::string_view path) noexcept {
  for (std::string_view const folder :
       {"/usr/lib", "/lib/", "/lib64/", "/usr/local/cuda", "/opt/nvidia", "linux-vdso"})
    if (path.starts_with(folder)) return false;
  auto const name = path.substr(path.rfind('/') + 1);
  for (std::string_view const known :
       {"python3", "libpython", "libffi.", "libtorch", "libc10", "libmkl", "libiomp", "libstdc++.",
        "libgcc_s.", "libgomp.", "libcudart", "libcublas", "libcudnn", "libcufft", "libcusolver",
        "libcusparse", "libnccl", "libnvrtc"})
    if (name.starts_with(known)) return false;
  if (name == "python") return false;
  return is_own_by_default(path);
}

/// Not of CUDA's runtime, which programs link in, and not made by nvcc. `name`: demangled.
inline bool is_own_function(std::string_view name) noexcept {
  for (std::string_view const known :
       {"libcudart_static_", "cudart::", "__cuda", "__device_stub__", "__nv_"})
    if (name.starts_with(known)) return false;
  constexpr std::string_view runtime = "cuda";  // cudaMalloc
  auto const is_call = name.starts_with(runtime) && name.size() > runtime.size() &&
                       name[runtime.size()] >= 'A' && name[runtime.size()] <= 'Z';
  return !is_call;
}

/// A frame of native code that is the program's own.
inline bool is_own_native(std::string_view path, std::string_view function) noexcept {
  return is_own_binary(path) && is_own_function(function);
}

}  // namespace gpuprof
