// SPDX-License-Identifier: Apache-2.0
#include "host/compare/comparison.hpp"
#include "host/compare/run_digest.hpp"
#include "support/catch.hpp"
#include "unit/compare/made_runs.hpp"

#include <algorithm>

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::host::compare;

namespace {

bool says(comparison const& of, std::string_view what) {
  return std::any_of(of.remarks.begin(), of.remarks.end(),
                     [&](auto const& line) { return line.find(what) != std::string::npos; });
}

std::vector<run_digest> run_of(std::string program, std::string command_line) {
  auto runs = made_runs({.steps = 20}, 1, 1);
  runs.front().program = std::move(program);
  runs.front().command_line = std::move(command_line);
  return runs;
}

}  // namespace

TEST_CASE("different programs are recognized by their file, with an interpreter by the script") {
  auto const differ = [](std::vector<run_digest> const& a, std::vector<run_digest> const& b) {
    return !programs_differ(a, b).empty();
  };
  CHECK_FALSE(differ(run_of("/a/app", "app 1"), run_of("/b/app", "app 2")));
  CHECK(differ(run_of("/a/app", "app"), run_of("/a/other", "other")));
  CHECK_FALSE(differ(run_of("/usr/bin/python3.11", "python3 -u a/train.py 1"),
                     run_of("/opt/python", "python b/train.py")));
  CHECK(differ(run_of("/usr/bin/python3", "python3 train.py"),
               run_of("/usr/bin/python3", "python3 infer.py")));
  CHECK_FALSE(differ(run_of("", ""), run_of("/a/app", "app")));
}

TEST_CASE("different GPUs are compared by their roofs, and steps are not judged") {
  auto base = made_runs({}, 1, 1), fresh = made_runs({}, 2, 1);
  fresh.front().gpus = {"NVIDIA A100"};
  for (auto& [_, line] : base.front().kernels) line.of_roof = 0.8;
  for (auto& [key, line] : fresh.front().kernels) line.of_roof = key.name == "kernel_4" ? 0.5 : 0.8;
  auto const compared = compare_runs(base, fresh);
  CHECK(compared.is_by_roof);
  CHECK(says(compared, "the GPUs differ"));
  for (auto const& line : compared.lines) {
    if (line.kind != line_kind::kernel) {
      CHECK(line.is == verdict::not_tested);
    } else if (line.name == "kernel_4") {
      CHECK(line.is == verdict::worse);
      CHECK(std::abs(*line.by_roof - 0.6) < 1e-9);
    } else {
      CHECK(line.is == verdict::same);
    }
  }
}

TEST_CASE("conditions that weaken a comparison are reported") {
  auto const base = made_runs({}, 1, 1);
  auto fresh = made_runs({}, 2, 1);
  auto const compared = compare_runs(base, fresh);
  CHECK(says(compared, "one capture a side"));
  CHECK(says(compared, "SM clock is not known"));
  CHECK_FALSE(says(compared, "GPUs"));
  CHECK(says(compare_runs(base, base), "same file"));
  fresh.front().uuids = {"GPU-2"};
  fresh.front().missing = {"5 kernels"};
  fresh.front().step->name = "iteration";
  fresh.front().has_counters = true;
  auto const worse = compare_runs(base, fresh);
  CHECK(says(worse, "of one model but not the same"));
  CHECK(says(worse, "5 kernels"));
  CHECK(says(worse, "'step' and 'iteration'"));
  CHECK(says(worse, "counters were read in made-2000 alone"));
}

TEST_CASE("ranks of a job are not treated as repetitions without a remark") {
  auto base = made_runs({}, 1, 2), fresh = made_runs({}, 2, 1);
  base[0].rank = base[1].rank = 0;
  fresh[0].rank = 1;
  CHECK(says(compare_runs(base, fresh), "the base is of rank 0, the new runs of rank 1"));
  base[1].rank = 1;
  CHECK(says(compare_runs(base, fresh), "several ranks (0, 1; 1)"));
  base[1].rank = fresh[0].rank = 0;
  CHECK_FALSE(says(compare_runs(base, fresh), "rank"));
}

TEST_CASE("runs without kernels or ranges can be compared") {
  auto const runs = made_runs({}, 1, 1);
  std::vector<run_digest> const empty(1);
  CHECK(says(compare_runs(empty, empty), "holds no kernels"));
  auto const gone = compare_runs(runs, empty);
  CHECK(gone.lines.size() == runs.front().kernels.size() + runs.front().ranges.size());
  for (auto const& line : gone.lines) CHECK(line.how == match_kind::gone);
}

TEST_CASE("lines are sorted by their cost") {
  auto const compared = compare_runs(made_runs({}, 1, 1), made_runs({.slowed = 1.3}, 2, 1));
  auto const first = std::find_if(compared.lines.begin(), compared.lines.end(),
                                  [](auto const& l) { return l.kind == line_kind::kernel; });
  CHECK(std::is_sorted(first, compared.lines.end(), [](auto const& a, auto const& b) {
    return std::abs(a.cost_ns) > std::abs(b.cost_ns);
  }));
}
