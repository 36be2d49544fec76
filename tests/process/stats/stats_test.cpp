// SPDX-License-Identifier: Apache-2.0
#include "process/stats/cli.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace gpuprof;
using namespace gpuprof::test;

namespace {

struct session {
  explicit session(trace t = two_steps(), capture_options const& options = {}) {
    write_capture(folder / "app.gpuprof", std::move(t), options);
  }
  outcome stats(std::string const& arguments = "") const {
    return run_cli(folder, "stats app.gpuprof " + arguments);
  }
  std::string csv(std::string const& arguments) const {
    return stats("-f csv -r " + arguments).out;
  }
  scratch_folder folder;
};

std::size_t lines_of(std::string const& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("without options the default reports are printed under the first lines") {
  auto const r = session().stats();
  CHECK(r.code == 0);
  CHECK(r.err.empty());
  check_golden("stats_default.txt", r.out);
}

TEST_CASE("every report prints its rows as nsys does") {
  session const s;
  for (std::string const name :
       {"cuda_gpu_kern_sum", "cuda_gpu_kern_gb_sum", "cuda_gpu_mem_time_sum",
        "cuda_gpu_mem_size_sum", "cuda_api_sum", "cuda_gpu_trace", "cuda_kern_exec_sum", "nvtx_sum",
        "nvtx_kern_sum", "nvtx_gpu_proj_sum", "nvtx_pushpop_sum", "nvtx_startend_sum",
        "cuda_gpu_sum", "cuda_api_gpu_sum", "nvtx_pushpop_trace"}) {
    check_golden("stats_" + name + ".csv", s.csv(name));
  }
}

TEST_CASE("CSV and JSON leave standard output to the table; first lines and notes go to stderr") {
  session const s({two_steps()}, {.lost_kernels = 3});
  auto const csv = s.stats("-r nvtx_sum -f csv");
  CHECK(csv.out.starts_with("Time (%),"));
  CHECK(csv.err.find("lost: 3 kernels") != std::string::npos);
  CHECK(csv.err.find("nvtx_sum: 1 range was still open") != std::string::npos);
  auto const json = s.stats("-r cuda_gpu_kern_sum -f json");
  auto const rows = nlohmann::json::parse(json.out);
  REQUIRE(rows.size() == 4);
  CHECK(rows[0]["Name"] == "void gemm<float>(float const*, float const*, float*, int)");
  CHECK(rows[0]["Total Time (ns)"] == 180000);
  CHECK(rows[0]["Instances"] == 2);
}

TEST_CASE("several JSON reports are one object") {
  auto const all = nlohmann::json::parse(
      session().stats("-r cuda_gpu_kern_sum,nvtx_sum -r cuda_gpu_trace -f json").out);
  CHECK(all.size() == 3);
  CHECK(all["cuda_gpu_trace"].size() == 7);
}

TEST_CASE("kernels are shown by their base or mangled name on request") {
  session const s;
  CHECK(s.csv("cuda_gpu_kern_sum:base").find(",gemm\n") != std::string::npos);
  CHECK(lines_of(s.csv("cuda_gpu_kern_sum:base")) == 4);
  CHECK(s.csv("cuda_gpu_kern_sum:mangled").find(",_ZN2nn4reluEPfi\n") != std::string::npos);
  CHECK(s.csv("nvtx_kern_sum:base").find(",relu\n") != std::string::npos);
}

TEST_CASE("kernels of one kind of work are added up on request") {
  session const s;
  auto const by_kind = s.csv("cuda_gpu_kern_sum:kind");
  CHECK(by_kind.find(",product\n") != std::string::npos);      // gemm
  CHECK(by_kind.find(",elementwise\n") != std::string::npos);  // relu
  CHECK(s.csv("nvtx_kern_sum:kind").find(",elementwise\n") != std::string::npos);
}

TEST_CASE("the unit of time is the user's choice") {
  auto const text = session().csv("cuda_gpu_kern_sum --timeunit ms");
  CHECK(text.starts_with("Time (%),Total Time (ms),Instances,Avg (ms)"));
  CHECK(text.find(",0.180000,2,0.090000,") != std::string::npos);
}

TEST_CASE("a range filter keeps work that was launched inside") {
  session const s;
  auto const forward = s.csv("cuda_gpu_kern_sum --filter-nvtx forward");
  CHECK(lines_of(forward) == 3);
  CHECK(forward.find("relu") != std::string::npos);
  CHECK(lines_of(s.csv("cuda_gpu_kern_sum --filter-nvtx step")) == 5);
  CHECK(lines_of(s.csv("cuda_gpu_kern_sum --filter-nvtx step --range-scope thread")) == 4);
  CHECK(lines_of(s.csv("cuda_gpu_kern_sum --filter-nvtx step/1")) == 2);
  CHECK(lines_of(s.csv("cuda_gpu_trace --filter-nvtx step/1")) == 4);
  CHECK(lines_of(s.csv("cuda_api_sum --filter-nvtx step/1")) == 3);
  CHECK(lines_of(s.csv("nvtx_sum --filter-nvtx step/0")) == 4);
  CHECK(s.csv("cuda_gpu_kern_sum --filter-nvtx all_reduce@NCCL").find("ncclKernel") !=
        std::string::npos);
}

TEST_CASE("a time filter keeps work that overlaps it") {
  session const s;
  CHECK(lines_of(s.csv("cuda_gpu_trace --filter-time 95us/200us")) == 3);
  CHECK(lines_of(s.csv("cuda_gpu_trace --filter-time 701us/")) == 3);
  CHECK(lines_of(s.csv("nvtx_sum --filter-time /5us")) == 2);
}

TEST_CASE("work can be filtered by kernel, GPU and stream") {
  session const s;
  CHECK(lines_of(s.csv("cuda_gpu_trace --kernel gemm")) == 4);
  CHECK(s.csv("cuda_gpu_trace --kernel gemm").find("memcpy") == std::string::npos);
  CHECK(lines_of(s.csv("cuda_gpu_kern_sum --kernel gemm --kernel regex:relu")) == 4);
  CHECK(s.csv("cuda_gpu_kern_sum --kernel '_ZN2nn4reluEPfi'").find("relu") != std::string::npos);
  CHECK(lines_of(s.csv("cuda_gpu_trace --device 0")) == lines_of(s.csv("cuda_gpu_trace")));
  CHECK(lines_of(s.csv("cuda_gpu_trace --stream 12345")) == 1);
  auto const near = s.stats("--kernel gem");
  CHECK(near.code == 1);
  CHECK(near.err.find("holds no kernel 'gem'; did you mean 'gemm'? --kernel regex:gem selects ") !=
        std::string::npos);
  CHECK(s.stats("--kernel 'regex:('").code == 2);
  CHECK(s.stats("--device 7").err.find("there is no GPU 7 in app.gpuprof; it has 0") !=
        std::string::npos);
}

TEST_CASE("TSV is CSV with tabs and without quotes") {
  session const s;
  auto csv = s.csv("cuda_gpu_kern_sum:base"), tsv = s.stats("-f tsv -r cuda_gpu_kern_sum:base").out;
  std::replace(csv.begin(), csv.end(), ',', '\t');
  CHECK(tsv == csv);
  auto const whole = s.stats("-f tsv -r cuda_gpu_kern_sum").out;  // names with commas
  CHECK(whole.find('"') == std::string::npos);
  CHECK(whole.find("void gemm<float>(float const*, float const*, float*, int)") !=
        std::string::npos);
}

TEST_CASE("the extension of the output says the format") {
  session const s;
  CHECK(s.stats("-r cuda_gpu_kern_sum -o kernels.csv").code == 0);
  CHECK(read_file(s.folder / "kernels.csv") == s.csv("cuda_gpu_kern_sum"));
  CHECK(s.stats("-r cuda_gpu_kern_sum,nvtx_sum -o both.tsv").code == 0);
  CHECK(read_file(s.folder / "both_nvtx_sum.tsv") == s.stats("-f tsv -r nvtx_sum").out);
  CHECK(s.stats("-r nvtx_sum -f json -o said.csv").code == 0);  // what is said holds
  CHECK(read_file(s.folder / "said.csv").starts_with("["));
  CHECK(s.stats("-r nvtx_sum -o ranges.txt").code == 0);
  CHECK(read_file(s.folder / "ranges.txt").find("(nvtx_sum)") != std::string::npos);
  CHECK(s.stats("-r nvtx_sum -f column").out == s.stats("-r nvtx_sum -f table").out);
}

TEST_CASE("filters that match nothing end with 1, and are named") {
  auto const r = session().stats("-r cuda_gpu_kern_sum --filter-time 1s/2s");
  CHECK(r.code == 1);
  CHECK(r.out.find("no kernel passes the filter") != std::string::npos);
  CHECK(r.err.find("nothing passes the filters (only: --filter-time 1s/2s)") != std::string::npos);
  CHECK(session().stats("-r nvtx_sum,cuda_gpu_kern_sum --filter-time /5us").code == 0);
}

TEST_CASE("reports of API calls say how to get them, other reports go on") {
  auto const r = session(trace_of({kernel("k", 0_us, 1_us)}))
                     .stats("-r cuda_api_sum,cuda_kern_exec_sum,cuda_gpu_kern_sum");
  CHECK(r.code == 0);
  CHECK(r.out.find("the capture holds no CUDA API calls; record them with --trace=cuda-api") !=
        std::string::npos);
  CHECK(session().stats("-r um_sum").out.find("no migrations of unified memory; --trace=um") !=
        std::string::npos);
  CHECK(r.out.find(
            "the launching call was not recorded: A is 0, and Q and T begin where the call was "
            "entered; --trace=cuda-api records calls") != std::string::npos);
  CHECK(r.out.find("100.0") != std::string::npos);
}

TEST_CASE("whole graphs are mentioned if their kernels are missing") {
  auto const r =
      session(trace_of({kernel("k", 0_us, 1_us), graph(5_us, 9_us)})).stats("-r cuda_gpu_kern_sum");
  CHECK(r.out.find("1 launch of whole CUDA graphs, 4 us on the GPU, not split into kernels") !=
        std::string::npos);
}

TEST_CASE(
    "an output base gives each report a file, and existing files are replaced only on request") {
  session const s;
  auto const first = s.stats("-r cuda_gpu_kern_sum,nvtx_sum -f csv,json -o result");
  CHECK(first.code == 0);
  CHECK(first.out.empty());
  CHECK(read_file(s.folder / "result_cuda_gpu_kern_sum.csv") == s.csv("cuda_gpu_kern_sum"));
  CHECK(nlohmann::json::accept(read_file(s.folder / "result_nvtx_sum.json")));

  auto const second = s.stats("-r cuda_gpu_kern_sum -f csv -o result");
  CHECK(second.code == 1);
  CHECK(second.err.find("result_cuda_gpu_kern_sum.csv exists already") != std::string::npos);
  CHECK(s.stats("-r cuda_gpu_kern_sum -f csv -o result --force-overwrite").code == 0);
  CHECK(s.stats("-r cuda_gpu_kern_sum -o .").code == 0);
  CHECK(read_file(s.folder / "app_cuda_gpu_kern_sum.txt").starts_with("captured: ./app --n 4"));
}

TEST_CASE(
    "after a kill the capture is still read, and ranges that were open end with the last kernel") {
  session const s({trace_of({range("step", 0_us, 0_us).left_open(), kernel("k", 10_us, 90_us)})},
                  {.window_ends = false, .closes = false});
  auto const r = s.stats("-r nvtx_sum");
  CHECK(r.code == 0);
  CHECK(r.out.find("90,000") != std::string::npos);
  CHECK(r.out.find("still open when the capture ended") != std::string::npos);
}
