// SPDX-License-Identifier: Apache-2.0
// What is in a set, and how sets and metrics are chosen by name.
#include "guest/metrics/planning/metric_sets.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <set>

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

using names = std::vector<std::string>;

bool contains(names const& list, std::string const& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace

TEST_CASE("every set has a name and holds the basic one first") {
  auto const basic = contents_of(metric_set::basic, "GH100").metrics;
  CHECK(basic.size() == 5);
  for (auto const& known : metric_sets()) {
    CHECK(metric_set_named(known.name) == known.set);
    auto const metrics = contents_of(known.set, "GH100").metrics;
    REQUIRE(metrics.size() >= basic.size());
    CHECK(std::equal(basic.begin(), basic.end(), metrics.begin()));
  }
  CHECK_FALSE(metric_set_named("Basic"));
}

TEST_CASE("the full set holds all others except explain, which has raw counts instead of ratios") {
  for (auto const* const chip : {"GH100", "GB202", "TU102", "nosuch"}) {
    auto const full = contents_of(metric_set::full, chip).metrics;
    for (auto const& known : metric_sets()) {
      if (known.set == metric_set::explain) continue;
      for (auto const& metric : contents_of(known.set, chip).metrics) CHECK(contains(full, metric));
    }
    CHECK(std::set<std::string>(full.begin(), full.end()).size() == full.size());
  }
}

TEST_CASE("explain counts nine stall reasons if the chip has them all, else eight") {
  auto const stalls = [](std::string const& chip) {
    auto const metrics = contents_of(metric_set::explain, chip).metrics;
    return std::count_if(metrics.begin(), metrics.end(), [](auto const& name) {
      return name.starts_with("smsp__warps_issue_stalled_");
    });
  };
  CHECK(stalls("GH100") == 9);
  CHECK(stalls("GB202") == 8);
  CHECK(contains(contents_of(metric_set::explain, "AD102").absent,
                 "smsp__warps_issue_stalled_gmma.sum"));
}

TEST_CASE(
    "sets that count operations of CUDA cores sample instructions of the FMA pipes on GH100") {
  auto const* const fma = "TPC.TriageCompute.sm__inst_executed_pipe_fma_realtime.sum";
  for (auto const set : {metric_set::roofline, metric_set::full, metric_set::explain}) {
    CHECK(contains(contents_of(set, "GH100").metrics, fma));
    CHECK(contains(contents_of(set, "GB202").absent, fma));
  }
}

TEST_CASE("metrics that a chip does not count are listed as absent") {
  auto const gh100 = contents_of(metric_set::basic, "GH100");
  CHECK(contains(gh100.metrics, "dram__bytes_read.sum"));
  CHECK(contains(gh100.absent, "dram__bytes_op_read.sum"));
  auto const gb202 = contents_of(metric_set::basic, "GB202");
  CHECK(contains(gb202.absent, "dram__bytes_read.sum"));
  CHECK(contains(gb202.metrics, "dram__bytes_op_read.sum"));
  CHECK(contents_of(metric_set::full, "GV11B").metrics.empty());
}

TEST_CASE("a chip newer than the list gets all metrics") {
  auto const future = contents_of(metric_set::roofline, "GX100");
  CHECK(future.absent.empty());
  CHECK(contains(future.metrics, "dram__bytes_read.sum"));
  CHECK(contains(future.metrics, "dram__bytes_op_read.sum"));
}

TEST_CASE("sets and metrics are chosen by name, each once") {
  auto const chosen =
      chosen_metrics(names{"sm__inst_executed.sum", "basic", "sm__cycles_active.avg"}, "GH100");
  REQUIRE(chosen);
  CHECK(chosen->size() == 6);
  CHECK(chosen->front() == "sm__inst_executed.sum");
  CHECK(chosen_metrics(names{}, "GH100")->empty());
}

TEST_CASE("the time of a reading is not offered as that of the kernel") {
  for (auto const* const name : {"gpu__time_duration.sum", "gpu__time_active.avg"})
    CHECK(chosen_metrics(names{name}, "GH100").message().find("have the traced time of each") !=
          std::string::npos);
  for (auto const& known : metric_sets())
    CHECK_FALSE(contains(contents_of(known.set, "GH100").metrics, "gpu__time_duration.sum"));
}

TEST_CASE("a word that is neither set nor metric is refused") {
  CHECK(chosen_metrics(names{"basic", "rofline"}, "GH100").message() ==
        "there is no metric or set 'rofline', did you mean roofline?; sets are basic roofline "
        "memory full explain, and gpuprof metrics lists the metrics");
  CHECK(chosen_metrics(names{""}, "GH100").message().starts_with("there is no metric or set ''"));
}
