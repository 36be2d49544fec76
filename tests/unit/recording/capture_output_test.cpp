// SPDX-License-Identifier: Apache-2.0
// Which file a process gets, when others want the same name.
#include "guest/recording/capture_output.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

/// A folder of its own, and what a process would ask for in it.
struct place {
  fs::path folder = fs::temp_directory_path() / ("capture_output_" + std::to_string(getpid()));
  settings options;

  explicit place(std::string const& output) {
    fs::create_directory(folder);
    options.output = (folder / output).string();
  }
  ~place() { fs::remove_all(folder); }

  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }
};

}  // namespace

TEST_CASE("a process that loses every race for a name reports that") {
  place const in("r%n");
  auto facts = naming_facts_of_this_process();
  // As if each name were taken after it was found to be free.
  facts.exists = [](std::string const&) { return false; };
  auto const own = "r1.pid" + std::to_string(facts.process) + ".gpuprof";
  std::ofstream(in.folder / "r1.gpuprof") << "theirs";
  auto const got = create_capture(in.options, facts);
  REQUIRE(got);
  CHECK((*got)->path() == (in.folder / own).string());
  auto const refused = create_capture(in.options, facts);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.message(), Contains("nothing is captured: ") && Contains(own) &&
                                    Contains("File exists") && Contains("not affected"));
}

TEST_CASE("processes that start together all get a file of their own") {
  place const in("r%n");
  constexpr int processes = 150;
  std::vector<std::unique_ptr<capture::writer>> files(processes);
  std::vector<std::jthread> all;
  for (int i = 0; i < processes; ++i) {
    all.emplace_back([&in, &file = files[static_cast<std::size_t>(i)], i] {
      auto facts = naming_facts_of_this_process();
      facts.process = static_cast<std::uint32_t>(1000 + i);
      if (auto got = create_capture(in.options, facts)) file = std::move(*got);
    });
  }
  all.clear();
  CHECK(std::none_of(files.begin(), files.end(), [](auto const& file) { return file == nullptr; }));
  CHECK(in.files() == processes);
}

TEST_CASE("two processes of a run that replace the same old capture both keep theirs") {
  place in("a");
  in.options.force_overwrite = true;
  constexpr int processes = 8;
  for (int round = 0; round < 20; ++round) {
    auto const old = in.folder / "a.gpuprof";
    std::ofstream(old) << "of yesterday";
    fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(24));
    auto const started = std::to_string(time(nullptr) - 60) + "000000000";
    std::vector<std::unique_ptr<capture::writer>> files(processes);
    std::vector<std::jthread> all;
    for (int i = 0; i < processes; ++i) {
      all.emplace_back([&in, &started, &file = files[static_cast<std::size_t>(i)], i] {
        auto facts = naming_facts_of_this_process();
        facts.process = static_cast<std::uint32_t>(1000 + i);
        facts.environment = [&](std::string const& name) -> std::optional<std::string> {
          if (name == "GPUPROF_RUN_STARTED") return started;
          return std::nullopt;
        };
        if (auto got = create_capture(in.options, facts)) file = std::move(*got);
      });
    }
    all.clear();
    REQUIRE(
        std::none_of(files.begin(), files.end(), [](auto const& file) { return file == nullptr; }));
    files.clear();
    REQUIRE(in.files() == processes);
    for (auto const& entry : fs::directory_iterator(in.folder)) fs::remove(entry);
  }
}
