// SPDX-License-Identifier: Apache-2.0
#include "launch_environment.hpp"

#include <array>
#include <filesystem>
#include <string_view>

namespace gpuprof {
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

}  // namespace

launch_environment make_launch_environment(char const* const* inherited, variables const& chosen,
                                           std::string const& library) {
  launch_environment made;
  auto all = read_environment(inherited);
  for (auto const& [name, value] : chosen) all[name] = value;

  if (library.find_first_of(" :") != std::string::npos) {
    made.remarks.push_back("LD_PRELOAD is not set, because the path " + library +
                           " has a blank or colon in it: ranges before the first CUDA call are "
                           "not recorded. Install gpuprof under another path");
  } else {
    auto& preload = all["LD_PRELOAD"];
    preload = preload.empty() ? library : library + ":" + preload;
  }
  for (auto const& [variable, lost] : injections) {
    auto& path = all[variable];
    if (path.empty()) {
      path = library;
    } else if (!same_file(path, library)) {
      made.remarks.push_back(std::string(variable) + " is set to " + path +
                             " and left alone: " + lost);
    }
  }
  for (auto const& [name, value] : all) made.entries.push_back(name + "=" + value);
  return made;
}

}  // namespace gpuprof
