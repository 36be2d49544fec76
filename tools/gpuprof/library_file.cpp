// SPDX-License-Identifier: Apache-2.0
#include "library_file.hpp"

#include "base/process.hpp"

#include <filesystem>

namespace gpuprof::host::command {
namespace {

namespace fs = std::filesystem;

bool is_file(fs::path const& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

}  // namespace

result<std::string> find_library_file() {
  if (auto const wanted = environment("GPUPROF_LIBRARY"); !wanted.empty()) {
    if (is_file(wanted)) return fs::absolute(wanted).string();
    return error{"GPUPROF_LIBRARY is " + wanted +
                 ", which is no file. Unset it to use the installed libgpuprof.so"};
  }
  auto const beside = fs::path(program_path()).parent_path();
  std::string tried;
  for (char const* const place :
       {GPUPROF_LIBRARY_FROM_BIN, "../lib", "../lib64", "../libgpuprof/guest/entry"}) {
    auto const candidate = (beside / place / "libgpuprof.so").lexically_normal();
    if (is_file(candidate)) return candidate.string();
    tried += (tried.empty() ? "" : ", ") + candidate.string();
  }
  return error{"libgpuprof.so is not beside this command (tried " + tried +
               "). Install both with cmake --install, or set GPUPROF_LIBRARY to the file"};
}

std::string preload_file(std::string const& library) {
  auto const beside = fs::path(library).parent_path() / "libgpuprof_preload.so";
  return is_file(beside) ? beside.string() : library;
}

}  // namespace gpuprof::host::command
