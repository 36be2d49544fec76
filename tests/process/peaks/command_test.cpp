// SPDX-License-Identifier: Apache-2.0
// gpuprof peaks as a user meets it where there is no GPU.
#include "guest/peaks/store/peaks_json.hpp"
#include "guest/peaks/theory/test_list.hpp"
#include "support/catch.hpp"
#include "support/pretended_gpu.hpp"
#include "support/run_cli.hpp"
#include "support/test_data.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <regex>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;

namespace {

bool has(std::string const& text, std::string_view part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

/// One line on stderr, nothing on stdout.
void check_refusal(outcome const& r, int code, std::string const& words) {
  INFO("stderr: " << r.err << "stdout: " << r.out);
  CHECK(r.code == code);
  CHECK(r.out.empty());
  CHECK(std::count(r.err.begin(), r.err.end(), '\n') == 1);
  CHECK(r.err.find(words) != std::string::npos);
}

struct folder_with_files {
  folder_with_files() {
    std::ofstream(scratch / "one.json") << peaks::to_json(std::vector{pretended_gpu(1)});
    std::ofstream(scratch / "two.json") << peaks::to_json(std::vector{pretended_gpu(2, 0.9)});
    std::ofstream(scratch / "empty.json") << peaks::to_json({});
  }
  outcome peaks(std::string const& arguments) const {
    return run_cli(scratch, "peaks " + arguments);
  }
  scratch_folder scratch;
};

}  // namespace

TEST_CASE("the tests are listed with their groups and titles, without a GPU") {
  folder_with_files const f;
  auto const text = f.peaks("--list");
  CHECK(text.code == 0);
  CHECK(text.err.empty());
  for (auto const& test : peaks::all_tests()) {
    has(text.out, std::string(" ").append(test.name).append(" "));
    has(text.out, test.title);
  }
  auto const rows = nlohmann::json::parse(f.peaks("--list --json").out);
  CHECK(rows.size() == peaks::all_tests().size());
  CHECK(rows[0]["test"] == "fp64");
  CHECK(f.peaks("--list --csv").out.starts_with("test,group,title,unit\nfp64,cuda_cores,"));
}

TEST_CASE("a wrong command line ends with 2 and one line") {
  folder_with_files const f;
  check_refusal(f.peaks("--only nonsense"), 2, "nonsense");
  check_refusal(f.peaks("--only tensor_bf61"), 2, "tensor_bf16");
  check_refusal(f.peaks("--json --csv"), 2, "choose one of --format, --json and --csv");
  check_refusal(f.peaks("--list -f jsno"), 2, "did you mean json?");
  check_refusal(f.peaks("--quick --sustained"), 2, "leave out --sustained");
  check_refusal(f.peaks("--from one.json --refresh"), 2, "leave out --refresh");
  check_refusal(f.peaks("--list --from one.json"), 2, "leave out --only and --from");
  check_refusal(f.peaks("--list --device 0"), 2, "--list measures nothing: leave out --device");
  check_refusal(f.peaks("--device x"), 2, "--device");
  check_refusal(f.peaks("nonsense"), 2, "nonsense");
}

TEST_CASE("without a driver every command line gives one line") {
  if (dlopen("libcuda.so.1", RTLD_LAZY) != nullptr) {
    WARN("there is a driver here: nothing to see");
    return;
  }
  folder_with_files const f;
  for (auto const* const arguments : {"", "--quick", "--only fp32,memory --refresh", "--json",
                                      "--csv", "--zeros --device 0,1", "--sustained --force"})
    check_refusal(f.peaks(arguments), 1, "gpuprof status says what works here");
}

TEST_CASE("a file with peaks is printed like a fresh measurement") {
  folder_with_files const f;
  auto const r = f.peaks("--from one.json");
  CHECK(r.code == 0);
  CHECK(r.err.empty());
  has(r.out, "Pretended GPU (GPU-00000000-0000-0000-0000-000000000001");
  has(r.out, "\nTensor BF16 ");
  auto const only = f.peaks("--from one.json --only memory,fp32");
  has(only.out, "\nDRAM read ");
  has(only.out, "\nFP32 FMA ");
  CHECK(only.out.find("Tensor BF16") == std::string::npos);
  CHECK(f.peaks("--from one.json --json").out == read_file(f.scratch / "one.json"));
  CHECK(f.peaks("--from one.json --csv").out.starts_with("name,uuid,"));
}

TEST_CASE("the peaks of a capture are printed, and may stand beside those of a file") {
  folder_with_files const f;
  auto const capture = test_data("flop/known_flop.gpuprof");
  auto const r = f.peaks("--from " + capture);
  CHECK(r.code == 0);
  CHECK(r.err.empty());
  has(r.out, "NVIDIA H200 (GPU-");
  has(r.out, "\nTensor BF16 ");
  has(r.out, "\nDRAM read ");
  auto const stored = nlohmann::json::parse(f.peaks("--json --from " + capture).out)["gpus"][0];
  auto const dram = std::find_if(stored["results"].begin(), stored["results"].end(),
                                 [](auto const& one) { return one["test"] == "dram_read"; });
  REQUIRE(dram != stored["results"].end());
  // Equal to what the capture itself holds.
  run_cli(f.scratch, "export -t csv -o tables " + capture);
  auto const table = read_file(f.scratch / "tables/peak.csv");
  auto const burst = (*dram)["burst"]["value"].get<double>();
  INFO(table);
  CHECK(burst > 3e12);
  has(table, std::to_string(static_cast<long long>(burst)));
  auto const only = f.peaks("--only fp32 --from " + capture);
  has(only.out, "FP32 FMA");
  CHECK(only.out.find("DRAM read") == std::string::npos);
  has(f.peaks("--from one.json --from " + capture).out, "GPU 0  GPU 1  spread\n");
}

TEST_CASE("a capture without peaks says so in one line") {
  folder_with_files const f;
  check_refusal(f.peaks("--from " + test_data("h200/mixed_sampled.gpuprof")), 1, "holds no peaks");
}

TEST_CASE("files of several machines are put side by side") {
  folder_with_files const f;
  auto const r = f.peaks("--from one.json --from two.json");
  CHECK(r.code == 0);
  has(r.out, "GPU 1: Pretended GPU (GPU-00000000-0000-0000-0000-000000000002");
  has(r.out, "GPU 0  GPU 1  spread\n");
  auto const both = f.peaks("--from one.json --from two.json --json");
  std::ofstream(f.scratch / "both.json") << both.out;
  CHECK(f.peaks("--from both.json").out == r.out);
}

TEST_CASE("a file without peaks gives one line") {
  folder_with_files const f;
  check_refusal(f.peaks("--from missing.json"), 1, "missing.json: No such file or directory");
  check_refusal(f.peaks("--from empty.json"), 1, "there are no peaks in empty.json");
  std::ofstream(f.scratch / "cut.json") << read_file(f.scratch / "one.json").substr(0, 500);
  check_refusal(f.peaks("--from cut.json"), 1, "cut.json ends too early, after 500 bytes");
  std::ofstream(f.scratch / "other.json") << "{\"format\": 1}";
  check_refusal(f.peaks("--from other.json"), 1, "other.json cannot be used: gpus is missing");
}

TEST_CASE("the output has the format of its extension, and an existing file is not replaced") {
  folder_with_files const f;
  auto const written = f.peaks("--from one.json -o here.csv");
  CHECK(written.code == 0);
  CHECK(written.out.empty());
  has(written.err, "gpuprof: wrote here.csv");
  CHECK(read_file(f.scratch / "here.csv") == f.peaks("--from one.json --csv").out);
  check_refusal(f.peaks("--from one.json -o here.csv"), 1, "here.csv exists already");
  CHECK(f.peaks("--from one.json -f json -o here.csv --force-overwrite").code == 0);
  CHECK(read_file(f.scratch / "here.csv") == read_file(f.scratch / "one.json"));
  CHECK(f.peaks("--list -f tsv").out.starts_with("test\tgroup\ttitle\tunit\nfp64\tcuda_cores\t"));
}

TEST_CASE("output that cannot be written ends with 1") {
  folder_with_files const f;
  auto const r = f.peaks("--from one.json 2>err >/dev/full; exit $? #");
  CHECK(r.code == 1);
}

TEST_CASE("bars are made of # on a terminal that cannot show blocks") {
  folder_with_files const f;
  setenv("LC_ALL", "C", 1);
  auto const plain = f.peaks("--from one.json");
  has(plain.out, "#####");
  setenv("LC_ALL", "C.UTF-8", 1);
  has(f.peaks("--from one.json").out, "█");
}
