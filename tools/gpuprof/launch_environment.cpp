// SPDX-License-Identifier: Apache-2.0
#include "launch_environment.hpp"

#include <array>
#include <filesystem>
#include <string_view>

namespace gpuprof::host::command {
namespace {

struct injection {
  char const* variable;
  char const* lost;
};
constexpr std::array<injection, 2> injections{{
    {"CUDA_INJECTION64_PATH",
     "if that tool takes CUPTI, kernels and copies are not recorded; unset it to be sure"},
    {"NVTX_INJECTION64_PATH",
     "the program's NVTX ranges go to that tool and are not recorded; unset it to record them"},
}};

variables read_environment(char const* const* inherited) {
  variables all;
  for (; inherited != nullptr && *inherited != nullptr; ++inherited) {
    std::string_view const entry = *inherited;
    auto const equals = entry.find('=', 1);
    if (equals == std::string_view::npos) continue;
    all.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return all;
}

bool same_file(std::string const& a, std::string const& b) {
  std::error_code ignored;
  return a == b || std::filesystem::equivalent(a, b, ignored);
}

/// AddressSanitizer ends a program in which its library is not the first.
bool has_address_sanitizer(std::string_view preloaded) {
  return preloaded.find("libasan.so") != std::string_view::npos ||
         preloaded.find("libclang_rt.asan") != std::string_view::npos;
}

void preload_ours(variables& all, std::string const& ours) {
  auto& preload = all["LD_PRELOAD"];
  if (preload.empty())
    preload = ours;
  else
    preload = has_address_sanitizer(preload) ? preload + ":" + ours : ours + ":" + preload;
  // Programs that the program starts may be built with it, too.
  auto& options = all["ASAN_OPTIONS"];
  if (options.find("verify_asan_link_order") != std::string::npos) return;
  options += (options.empty() ? "" : ":") + std::string("verify_asan_link_order=0");
}

}  // namespace

launch_environment make_launch_environment(char const* const* inherited, variables const& chosen,
                                           std::string const& library, std::string const& preload) {
  launch_environment made;
  auto all = read_environment(inherited);
  for (auto const& [name, value] : chosen) all[name] = value;

  all.erase("GPUPROF_SET_INJECTION");  // what we set holds for all that the program starts
  if (preload.find_first_of(" :") != std::string::npos) {
    made.remarks.push_back("LD_PRELOAD is not set, because the path " + preload +
                           " has a blank or colon in it: ranges before the first CUDA call are "
                           "not recorded. Install gpuprof under another path");
  } else if (!preload.empty()) {
    preload_ours(all, preload);
  }
  for (auto const& [variable, lost] : injections) {
    auto& path = all[variable];
    if (path.empty()) {
      path = library;
    } else if (!same_file(path, library) && !same_file(path, preload)) {
      made.remarks.push_back(std::string(variable) + " is set to " + path +
                             " and left alone: " + lost);
    }
  }
  for (auto const& [name, value] : all) made.entries.push_back(name + "=" + value);
  return made;
}

}  // namespace gpuprof::host::command
