// SPDX-License-Identifier: Apache-2.0
#include "guest/options/output_name.hpp"

#include "support/catch.hpp"

#include <map>

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

/// A host with the files and variables a test names.
struct imagined_host {
  std::map<std::string, std::string> variables;
  std::map<std::string, std::uint64_t> files;  // path, moment of last change

  naming_facts facts() const {
    return {
        .host = "node17",
        .process = 4242,
        .environment = [this](std::string const& name) -> std::optional<std::string> {
          auto const found = variables.find(name);
          if (found == variables.end()) return std::nullopt;
          return found->second;
        },
        .exists = [this](std::string const& path) { return files.count(path) != 0; },
        .changed =
            [this](std::string const& path) {
              auto const found = files.find(path);
              return found == files.end() ? 0 : found->second;
            },
    };
  }
  capture_path choose(std::string output, bool force = false) const {
    settings s;
    s.output = std::move(output);
    s.force_overwrite = force;
    auto const chosen = choose_capture_path(s, facts());
    REQUIRE(chosen);
    return *chosen;
  }
};

}  // namespace

TEST_CASE("host, process, variables and percent signs are put into the name") {
  imagined_host const host{.variables = {{"JOB", "77"}}, .files = {}};
  CHECK(host.choose("%h-%p-%q{JOB}-%q{UNSET}-100%%").path == "node17-4242-77--100%.gpuprof");
}

TEST_CASE("a pattern that names no file is refused") {
  for (auto const* const wrong : {"", "-", ".", "..", "a/", "a/.", "/", "%x"})
    CHECK_FALSE(is_output_pattern(wrong));
  for (auto const* const right : {"a", "-a", ".a", "a-", "dir/-", "%q{A}", "a.b"})
    CHECK(is_output_pattern(right));
  imagined_host const host{.variables = {{"JOB", "77"}}, .files = {}};
  settings s;
  for (auto const* const empty : {"%q{UNSET}", "dir/%q{UNSET}"}) {
    s.output = empty;
    auto const refused = choose_capture_path(s, host.facts());
    REQUIRE_FALSE(refused);
    CHECK(refused.message().find("the variables in it are not set") != std::string::npos);
  }
  CHECK(host.choose("%q{JOB}").path == "77.gpuprof");
}

TEST_CASE("the extension is added once") {
  imagined_host const host;
  CHECK(host.choose("a").path == "a.gpuprof");
  CHECK(host.choose("a.gpuprof").path == "a.gpuprof");
  CHECK(host.choose("run-1.5").path == "run-1.5.gpuprof");
}

TEST_CASE("a device is refused, with and without the extension") {
  imagined_host const host;
  auto facts = host.facts();
  for (auto const* const device : {"/dev/null", "pipe.gpuprof"}) {
    facts.special = [&](std::string const& path) { return path == device; };
    for (auto const* const asked : {"/dev/null", "pipe"}) {
      settings s;
      s.output = asked;
      s.force_overwrite = true;
      auto const refused = choose_capture_path(s, facts);
      CHECK(!refused == std::string_view(device).starts_with(asked));
      if (!refused) {
        CHECK(refused.message() == "nothing is recorded: " + std::string(device) +
                                       " is not a regular file. Choose another --output");
      }
    }
  }
  auto const real = naming_facts_of_this_process();
  CHECK(real.special("/dev/null"));
  CHECK_FALSE(real.special("/dev"));
  CHECK_FALSE(real.special("/proc/self/exe"));
  CHECK_FALSE(real.special("/nowhere"));
}

TEST_CASE("%n is the first free number") {
  imagined_host const host{.variables = {}, .files = {{"r1.gpuprof", 1}, {"r2.gpuprof", 1}}};
  CHECK(host.choose("r%n").path == "r3.gpuprof");
  CHECK_FALSE(host.choose("r%n", true).replace);
}

TEST_CASE("an existing capture is replaced only on request") {
  imagined_host const host{.variables = {}, .files = {{"a.gpuprof", 1}}};
  settings s;
  s.output = std::string("a");
  auto const refused = choose_capture_path(s, host.facts());
  REQUIRE_FALSE(refused);
  CHECK(refused.message().find("a.gpuprof exists") != std::string::npos);
  CHECK(refused.message().find("--force-overwrite") != std::string::npos);
  CHECK(host.choose("a", true).replace);
  CHECK_FALSE(host.choose("b").replace);
}

TEST_CASE("a second process of the same run does not replace the capture of the first") {
  imagined_host host{.variables = {{"GPUPROF_RUN_STARTED", "1000"}}, .files = {{"a.gpuprof", 999}}};
  CHECK(host.choose("a", true).path == "a.gpuprof");
  host.files["a.gpuprof"] = 1000;
  CHECK(host.choose("a", true).path == "a.pid4242.gpuprof");
  CHECK(host.choose("a").path == "a.pid4242.gpuprof");
}

TEST_CASE("a process number that another container has given too does not replace a capture") {
  imagined_host host{.variables = {{"GPUPROF_RUN_STARTED", "1000"}},
                     .files = {{"a.gpuprof", 1000}, {"a.pid4242.gpuprof", 1000}}};
  CHECK(host.choose("a", true).path == "a.pid4242-2.gpuprof");
  CHECK_FALSE(host.choose("a", true).replace);
  host.files["a.pid4242-2.gpuprof"] = 1;
  CHECK(host.choose("a").path == "a.pid4242-3.gpuprof");
}

TEST_CASE("a process that loses many races for the next number uses its process number") {
  imagined_host const host{.variables = {}, .files = {{"r1.gpuprof", 1}}};
  settings s;
  s.output = std::string("r%n");
  CHECK(choose_capture_path(s, host.facts(), 1)->path == "r2.gpuprof");
  CHECK(choose_capture_path(s, host.facts(), 50)->path == "r2.pid4242.gpuprof");
}

TEST_CASE(
    "a process that waits for an old capture which another replaces uses its process number") {
  imagined_host host{.variables = {{"GPUPROF_RUN_STARTED", "1000"}}, .files = {{"a.gpuprof", 1}}};
  settings s;
  s.output = std::string("a");
  s.force_overwrite = true;
  CHECK(choose_capture_path(s, host.facts(), 1)->replace);
  CHECK(choose_capture_path(s, host.facts(), 50)->path == "a.pid4242.gpuprof");
  host.variables.clear();
  CHECK(choose_capture_path(s, host.facts(), 50)->replace);
}

TEST_CASE("ranks of one job never share a name") {
  imagined_host host{.variables = {{"RANK", "3"}, {"WORLD_SIZE", "8"}}, .files = {}};
  CHECK(host.choose("out/report").path == "out/report.rank3.gpuprof");
  CHECK(host.choose("report%n").path == "report1.rank3.gpuprof");
  CHECK(host.choose("report-%p").path == "report-4242.gpuprof");
  CHECK(host.choose("report-%h").path == "report-node17.gpuprof");
  CHECK(host.choose("report-%q{RANK}").path == "report-3.gpuprof");
}

TEST_CASE("the rank is found under each launcher, but only if the world has more than one") {
  using variables = std::map<std::string, std::string>;
  auto const rank = [](variables v) {
    imagined_host const host{.variables = std::move(v), .files = {}};
    return rank_of(host.facts().environment);
  };
  CHECK(rank({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}})->rank == 1);
  CHECK(rank({{"MV2_COMM_WORLD_RANK", "1"}, {"MV2_COMM_WORLD_SIZE", "2"}})->rank == 1);
  CHECK(rank({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}})->rank == 1);
  CHECK(rank({{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}})->world_size == 2);
  CHECK_FALSE(rank({{"RANK", "0"}, {"WORLD_SIZE", "1"}}));
  CHECK_FALSE(rank({{"RANK", "0"}}));
  CHECK_FALSE(rank({{"RANK", "x"}, {"WORLD_SIZE", "2"}}));
  auto const both = rank({{"OMPI_COMM_WORLD_RANK", "1"},
                          {"OMPI_COMM_WORLD_SIZE", "2"},
                          {"SLURM_PROCID", "0"},
                          {"SLURM_NTASKS", "2"}});
  CHECK(both->variable == "OMPI_COMM_WORLD_RANK");
}
