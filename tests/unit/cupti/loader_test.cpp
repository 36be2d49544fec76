// SPDX-License-Identifier: Apache-2.0
// Which libcupti is taken, and what is said when there is none.
#include "guest/cupti/loader.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace {

struct outcome {
  bool loaded = false;
  std::string line;
};

/// `environment`: NAME='value' words; `arguments`: the driver's CUDA version, libraries to open
/// first.
outcome load(std::string const& environment, std::string const& arguments = "13") {
  auto const command = "env -u CUDA_HOME -u CUDA_PATH -u LD_LIBRARY_PATH " + environment +
                       " '" LOAD_CUPTI "' " + arguments + " 2>&1";
  auto* const output = popen(command.c_str(), "r");
  REQUIRE(output != nullptr);
  outcome result;
  std::array<char, 4096> text{};
  while (std::fgets(text.data(), text.size(), output) != nullptr) result.line += text.data();
  auto const status = pclose(output);
  REQUIRE(WIFEXITED(status));
  result.loaded = WEXITSTATUS(status) == 0;
  if (!result.line.empty() && result.line.back() == '\n') result.line.pop_back();
  return result;
}

bool contains(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

std::string const here = PRETENDED_CUPTI;
std::string const complete = here + "/complete/libcupti.so.13";

}  // namespace

TEST_CASE("GPUPROF_CUPTI_PATH names the library") {
  auto const result = load("GPUPROF_CUPTI_PATH='" + complete + "'");
  CHECK(result.loaded);
  CHECK(result.line == "130002 " + std::filesystem::canonical(complete).string());
}

TEST_CASE("GPUPROF_CUPTI_PATH names the folder of the library") {
  auto const result = load("GPUPROF_CUPTI_PATH='" + here + "/complete'");
  CHECK(result.line == "130002 " + std::filesystem::canonical(complete).string());
}

TEST_CASE("a libcupti that is already mapped is used") {
  auto const result = load("GPUPROF_CUPTI_PATH='" + here + "/old'", "13 '" + complete + "'");
  CHECK(result.line == "130002 " + std::filesystem::canonical(complete).string());
}

TEST_CASE("if the mapped libcupti is too old no second one is loaded") {
  auto const result =
      load("GPUPROF_CUPTI_PATH='" + complete + "'", "13 '" + here + "/old/libcupti.so.13'");
  CHECK_FALSE(result.loaded);
  CHECK(contains(result.line, "is CUPTI 11.8, too old: CUDA 12.0 or later is needed"));
}

TEST_CASE(
    "a missing file, one without the functions and one too old are each reported and skipped") {
  auto const missing = load("GPUPROF_CUPTI_PATH=/nowhere/libcupti.so.13");
  auto const empty = load("GPUPROF_CUPTI_PATH='" + here + "/empty'");
  auto const old = load("GPUPROF_CUPTI_PATH='" + here + "/old'");
  // On a machine with a toolkit another libcupti is found in the end; then nothing needs saying.
  if (!missing.loaded) CHECK(contains(missing.line, "/nowhere/libcupti.so.13: cannot open"));
  if (!empty.loaded) CHECK(contains(empty.line, "libcupti.so.13 has no cuptiGetVersion"));
  if (!old.loaded) CHECK(contains(old.line, "too old"));
  CHECK(missing.loaded == empty.loaded);
  CHECK(missing.loaded == old.loaded);
}

TEST_CASE("a library that gives no version is not called too old") {
  auto const result = load("", "13 '" + here + "/silent/libcupti.so.13'");
  CHECK_FALSE(result.loaded);
  CHECK(contains(result.line, "does not say its version (error 999)"));
}

TEST_CASE("a library that crashes without a driver is not called on a machine without one") {
  if (dlopen("libcuda.so.1", RTLD_LAZY) != nullptr) return;  // then it would be called
  auto const result = load("", "13 '" + here + "/driver/libcupti.so.13'");
  CHECK_FALSE(result.loaded);
  CHECK(contains(result.line, "answers nothing without a CUDA driver"));
}

TEST_CASE("a file that is not a library is reported") {
  auto const text =
      std::filesystem::temp_directory_path() / ("no_library_" + std::to_string(getpid()) + ".so");
  std::ofstream(text) << "not a library";
  // Mapped libraries alone would be tried before; this file is the first candidate.
  auto const found = load("GPUPROF_CUPTI_PATH='" + text.string() + "'");
  if (!found.loaded) CHECK(contains(found.line, text.string()));
  CHECK(contains(found.line, found.loaded ? "libcupti" : "GPUPROF_CUPTI_PATH"));
  std::filesystem::remove(text);
}

TEST_CASE("a libcupti newer than the driver is tried last") {
  auto const old_driver = gpuprof::guest::cupti_candidates(12);
  auto const new_driver = gpuprof::guest::cupti_candidates(13);
  auto const place = [](std::vector<std::string> const& all, char const* name) {
    return std::find(all.begin(), all.end(), name) - all.begin();
  };
  CHECK(place(old_driver, "libcupti.so.12") < place(old_driver, "libcupti.so.13"));
  CHECK(place(new_driver, "libcupti.so.13") < place(new_driver, "libcupti.so.12"));
}

TEST_CASE("nvidia-cuda-cupti is found in the site-packages of a loaded Python module") {
  auto const folder = std::filesystem::temp_directory_path() /
                      ("gpuprof_packages_" + std::to_string(getpid())) / "site-packages";
  std::filesystem::create_directories(folder / "module");
  std::filesystem::copy_file(CLOSING_CLOCK, folder / "module/module.so");
  for (char const* const place : {"nvidia/cu13/lib", "nvidia/cuda_cupti/lib"}) {
    std::filesystem::create_directories(folder / place);
    std::ofstream(folder / place / "libcupti.so.13") << "not opened here";
  }
  auto const count = [&](char const* place) {
    auto const all = gpuprof::guest::cupti_candidates(13);
    return std::count(all.begin(), all.end(), (folder / place / "libcupti.so.13").string());
  };
  CHECK(count("nvidia/cu13/lib") == 0);
  auto* const module = dlopen((folder / "module/module.so").c_str(), RTLD_NOW);
  REQUIRE(module != nullptr);
  CHECK(count("nvidia/cu13/lib") == 1);
  CHECK(count("nvidia/cuda_cupti/lib") == 1);
  dlclose(module);
  std::filesystem::remove_all(folder.parent_path());
}
