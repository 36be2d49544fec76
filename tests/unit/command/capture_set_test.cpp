// SPDX-License-Identifier: Apache-2.0
// Several captures as the ranks of a job: what does not fit together is said, in one line each.
#include "ranks/capture_set.hpp"

#include "ranks/capture_names.hpp"
#include "support/catch.hpp"
#include "support/scratch_folder.hpp"

#include <fstream>

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::host::command;

namespace {

ranked_capture of_rank(std::uint32_t rank, std::uint32_t size = 4) {
  ranked_capture capture;
  capture.path = "run" + std::to_string(rank) + ".gpuprof";
  capture.rank = rank;
  capture.world_size = size;
  capture.program = "/usr/bin/train";
  capture.process = 100 + rank;
  return capture;
}

std::string only_remark(capture_set const& set) {
  REQUIRE(set.remarks.size() == 1);
  return set.remarks.front();
}

bool says(std::string const& line, std::string const& part) {
  return line.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a job with all ranks needs no remark and is sorted by rank") {
  auto const set = capture_set_of({of_rank(3), of_rank(1), of_rank(0), of_rank(2)});
  CHECK(set.remarks.empty());
  CHECK(set.captures[0].label == "0");
  CHECK(set.captures[3].path == "run3.gpuprof");
}

TEST_CASE("ranks that are missing are named") {
  auto const line = only_remark(capture_set_of({of_rank(0, 8), of_rank(1, 8), of_rank(6, 8)}));
  CHECK(says(line, "has 8 ranks, captures of 3 are here; missing: 2, 3, 4, 5 and 7"));
  auto const many = only_remark(capture_set_of({of_rank(0, 1024), of_rank(1, 1024)}));
  CHECK(says(many, "missing: 2, 3, 4, 5, 6, 7, 8 and 9 and 1014 more"));
}

TEST_CASE("the capture of a launcher is not a rank") {
  auto launcher = of_rank(0);
  launcher.path = "torchrun.gpuprof";
  launcher.rank = std::nullopt;
  launcher.world_size = 0;
  launcher.has_gpu_work = false;
  auto const set = capture_set_of({of_rank(0, 2), launcher, of_rank(1, 2)});
  CHECK(set.captures.size() == 2);
  CHECK(says(only_remark(set), "without work on a GPU: torchrun.gpuprof, left out"));
  // Where nobody knows a rank, or it worked on a GPU, it counts.
  CHECK(capture_set_of({launcher, launcher}).captures.size() == 2);
  launcher.has_gpu_work = true;
  CHECK(capture_set_of({of_rank(0, 2), launcher, of_rank(1, 2)}).captures.size() == 3);
}

TEST_CASE("two captures of one rank both count and have different labels") {
  auto twice = of_rank(1, 2);
  twice.path = "other.gpuprof";
  twice.process = 7;
  auto const set = capture_set_of({of_rank(0, 2), of_rank(1, 2), twice});
  CHECK(says(only_remark(set), "rank 1 has 2 captures, each counts: other.gpuprof and run1"));
  CHECK(set.captures[1].label == "1 (pid 7)");
  CHECK(set.captures[2].label == "1 (pid 101)");
}

TEST_CASE("captures of different programs, jobs or times are reported") {
  auto other = of_rank(1, 2);
  other.program = "/usr/bin/serve";
  CHECK(says(only_remark(capture_set_of({of_rank(0, 2), other})),
             "different programs: /usr/bin/serve (1) and /usr/bin/train (0)"));
  auto job = of_rank(1, 2);
  job.job = "4711";
  CHECK(says(only_remark(capture_set_of({of_rank(0, 2), job})), "different Slurm jobs"));
  CHECK(says(only_remark(capture_set_of({of_rank(0, 2), of_rank(1, 3)})), "of different size"));
  auto early = of_rank(0, 2), late = of_rank(1, 2);
  early.begin = {100};
  early.end = {200};
  late.begin = {300};
  late.end = {400};
  CHECK(says(only_remark(capture_set_of({early, late})), "of 0 ended before that of 1 began"));
}

TEST_CASE("a capture without a rank is labeled by its file") {
  ranked_capture none;
  none.path = "a/worker.gpuprof";
  none.program = "/usr/bin/train";
  auto const set = capture_set_of({none, of_rank(0, 1)});
  CHECK(set.captures[1].label == "worker");
  CHECK(says(set.remarks.front(), "no rank is known of a/worker.gpuprof"));
}

TEST_CASE("outputs are named by rank, by file if a rank has several, and never twice") {
  auto twice = of_rank(1, 2);
  twice.path = "elsewhere/run1.gpuprof";
  auto const set = capture_set_of({of_rank(0, 2), of_rank(1, 2), twice});
  CHECK(set.captures[0].file_name == "rank0");
  CHECK(set.captures[1].file_name == "run1");
  CHECK(set.captures[2].file_name == "run1-2");
}

TEST_CASE("a single capture of one rank needs no remark") {
  CHECK(capture_set_of({of_rank(3)}).remarks.empty());
}

TEST_CASE("captures are named by file, folder and pattern, each once") {
  test::scratch_folder const folder;
  for (auto const* const name : {"b.gpuprof", "a.gpuprof", "notes.txt"})
    std::ofstream(folder / name) << "x";
  auto const found = [&](std::vector<std::string> const& names) {
    auto const files = named_captures(names);
    REQUIRE(files);
    return *files;
  };
  auto const a = folder / "a.gpuprof", b = folder / "b.gpuprof";
  auto const here = folder / ".";
  CHECK(found({here}).size() == 2);
  CHECK(found({folder / "*.gpuprof"}) == std::vector{a, b});
  CHECK(found({b, here, folder / "a"}).size() == 2);
  CHECK(found({"not there"}) == std::vector<std::string>{"not there"});
  CHECK(says(named_captures(std::vector{folder / "*.none"}).message(), "no file matches"));
}
