// SPDX-License-Identifier: Apache-2.0
// gpuprof metrics as a user meets it where there is no GPU.
#include "support/real_cupti.hpp"
#include "support/run_cli.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>

using namespace gpuprof;
using namespace gpuprof::test;

namespace {

outcome metrics(std::string const& arguments) {
  scratch_folder const scratch;
  return run_cli(scratch, "metrics " + arguments);
}

void has(std::string const& text, std::string_view part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
}

/// One line on stderr, nothing on stdout.
void check_refusal(outcome const& r, int code, std::string const& words) {
  INFO("stderr: " << r.err << "stdout: " << r.out);
  CHECK(r.code == code);
  CHECK(r.out.empty());
  CHECK(std::count(r.err.begin(), r.err.end(), '\n') == 1);
  CHECK(r.err.find(words) != std::string::npos);
}

}  // namespace

TEST_CASE("metrics that match are listed with unit, passes and description") {
  if (real_cupti() == nullptr) return;
  auto const r = metrics("--chip gh100 --query ^dram__bytes_read");
  CHECK(r.code == 0);
  CHECK(r.err.empty());
  has(r.out, " dram__bytes_read  byte       1  yes      # of bytes read from DRAM\n");
  has(r.out, "metrics of GH100, CUPTI ");
  has(r.out, "  counters     .sum .avg ");
  CHECK(r.out.find("  ratios ") == std::string::npos);
}

TEST_CASE("a whole name with its suffix finds its metric") {
  if (real_cupti() == nullptr) return;
  auto const r = metrics("--chip GH100 --query sm__cycles_active.avg.per_second");
  CHECK(r.code == 0);
  has(r.out, " sm__cycles_active  gpc_cycle ");
}

TEST_CASE("all metrics are listed without passes, and a line says how to add these") {
  if (real_cupti() == nullptr) return;
  auto const r = metrics("--chip TU102");
  CHECK(r.code == 0);
  CHECK(std::count(r.out.begin(), r.out.end(), '\n') > 1500);
  has(r.out, "--passes adds");
  CHECK(r.out.find("Sampled") == std::string::npos);
}

TEST_CASE("JSON and CSV write nothing else to standard output") {
  if (real_cupti() == nullptr) return;
  auto const json = nlohmann::json::parse(metrics("--chip GH100 --query dram__bytes --json").out);
  CHECK(json["chip"] == "GH100");
  CHECK(json["suffixes"]["counter"].size() == 44);
  REQUIRE(json["metrics"].size() == 3);
  CHECK(json["metrics"][1]["name"] == "dram__bytes_read");
  CHECK(json["metrics"][1]["hardware_unit"] == "dram");
  CHECK(json["metrics"][1]["passes"] == 1);
  CHECK(json["metrics"][1]["sampled"] == true);
  CHECK(metrics("--chip GH100 --query dram__bytes --csv")
            .out.starts_with("name,type,hardware_unit,unit,passes,sampled,description\n"
                             "dram__bytes,counter,dram,byte,1,yes,"));
}

TEST_CASE("a set is shown by launch, with the metrics that the chip lacks") {
  if (real_cupti() == nullptr) return;
  auto const r = metrics("--chip GB202 --set basic");
  CHECK(r.code == 0);
  has(r.out, " 1       yes      byte              dram__bytes_op_read.sum ");
  has(r.out, "\nbasic on GB202: 5 metrics by CUPTI ");
  has(r.out, "\nLaunches: 1 pass, ");
  has(r.out, "\nSampling: 5 of 5 metrics together.\n");
  has(r.out, "\nNot on GB202: dram__bytes_read.sum dram__bytes_write.sum\n");
  auto const json = nlohmann::json::parse(metrics("--chip GH100 --set roofline --json").out);
  CHECK(json["launch_passes"] == 8);
  CHECK(json["sampling_passes"] == 1);
  CHECK(json["launches"][1]["patches_kernel"] == true);
  CHECK(json["unusable"].empty());
  CHECK(metrics("--chip GH100 --set basic --csv")
            .out.starts_with("launch,sampled,unit,name,description\n1,yes,gpc_cycle,"));
}

TEST_CASE("a metric that does not exist is named with the nearest, and the others are planned") {
  if (real_cupti() == nullptr) return;
  auto const r = metrics("--chip GH100 --set sm__cycles_actve.avg,dram__bytes_read.sum");
  CHECK(r.code == 1);
  CHECK(r.err ==
        "gpuprof metrics: sm__cycles_actve.avg: GH100 has no metric of this name, did you mean "
        "sm__cycles_active.avg?\n");
  has(r.out, "1 metric by CUPTI");
  check_refusal(metrics("--chip GH100 --set sm__cycles_active"), 1,
                "it needs a suffix, did you mean sm__cycles_active.sum?");
}

TEST_CASE("a mistake on the command line gives one line and exit code 2") {
  if (real_cupti() == nullptr) return;
  check_refusal(metrics("--chip GH101"), 2, "did you mean GH100?; known are GV100 ");
  check_refusal(metrics("--chip GH100 --set rofline"), 2, "did you mean roofline?");
  check_refusal(metrics("--chip GH100 --query '['"), 2, "is not a regular expression");
  check_refusal(metrics("--chip GH100 --json --csv"), 2, "choose one of");
  check_refusal(metrics("--chip GH100 --set basic --query x"), 2, "leave out --query");
}

TEST_CASE("a query without matches gives the nearest name") {
  if (real_cupti() == nullptr) return;
  check_refusal(metrics("--chip GH100 --query dram__byts_read"), 1,
                "no metric of GH100 matches 'dram__byts_read', did you mean dram__bytes_read.sum?");
}

TEST_CASE("a chip without counters gives one line") {
  if (real_cupti() == nullptr) return;
  check_refusal(metrics("--chip GV11B"), 1, "GV11B has no counters that CUPTI can read");
}

TEST_CASE("without GPU and --chip one line names --chip and the chips") {
  if (real_cupti() == nullptr || dlopen("libcuda.so.1", RTLD_LAZY) != nullptr) return;
  check_refusal(metrics(""), 1, "give one by --chip, known are GV100 ");
}

TEST_CASE("without CUPTI one line says how to point to it") {
  // Where the loader knows a libcupti by itself, its folder is hidden in a mount namespace of the
  // command's own, where the system allows one.
  scratch_folder const scratch;
  std::string hide;
  if (auto const here = load_cupti(0)) {
    namespace fs = std::filesystem;
    for (auto const& file : {fs::path(here->path), fs::canonical(here->path)})
      hide += "mount -t tmpfs none '" + file.parent_path().string() + "' || exit 77; ";
  }
  std::ofstream(scratch / "run.sh")
      << hide << "unset LD_LIBRARY_PATH; export CUDA_HOME=/nowhere CUDA_PATH=/nowhere "
      << "GPUPROF_CUPTI_PATH=/nowhere; exec '" GPUPROF_CLI "' metrics --chip GH100 >'"
      << (scratch / "out") << "' 2>'" << (scratch / "err") << "'";
  auto const script = "sh '" + (scratch / "run.sh") + "'";
  auto const status = std::system(
      hide.empty() ? script.c_str()
                   : ("unshare --user --map-root-user --mount true 2>/dev/null || exit 77; "
                      "unshare --user --map-root-user --mount " +
                      script)
                         .c_str());
  if (WEXITSTATUS(status) == 77) {
    WARN("skipped: this system lets nobody hide its libcupti");
    return;
  }
  CHECK(WEXITSTATUS(status) == 1);
  auto const said = read_file(scratch / "err");
  INFO(said);
  has(said, "GPUPROF_CUPTI_PATH");
  CHECK(std::count(said.begin(), said.end(), '\n') == 1);
}
