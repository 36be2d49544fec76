// SPDX-License-Identifier: Apache-2.0
// What a name that cannot be read may have meant.
#include "guest/metrics/planning/metric_catalogue.hpp"

#include "support/catch.hpp"
#include "support/fake_cupti.hpp"

using namespace gpuprof;
using gpuprof::test::fake_cupti;

namespace {

metric_catalogue read_catalogue(fake_cupti const& cupti) {
  auto const ranges = host_profiler::open(cupti.library.api, counter_engine::ranges, "GH100");
  auto const sampling = host_profiler::open(cupti.library.api, counter_engine::sampling, "GH100");
  auto catalogue = metric_catalogue::read(*ranges, &*sampling);
  REQUIRE(catalogue);
  return *std::move(catalogue);
}

}  // namespace

TEST_CASE("metrics of both engines are in one list, each once") {
  fake_cupti const cupti;
  auto const catalogue = read_catalogue(cupti);
  CHECK(catalogue.metrics().size() == 12);
  CHECK(catalogue.metrics().front().name == "TPC.Triage.sm__realtime");
  auto const* const both = catalogue.base_of("sm__cycles_active.avg");
  REQUIRE(both != nullptr);
  CHECK((both->by_ranges && both->by_sampling));
  auto const* const sampled = catalogue.base_of("TPC.Triage.sm__realtime");
  REQUIRE(sampled != nullptr);
  CHECK((!sampled->by_ranges && sampled->by_sampling));
  CHECK(catalogue.suffixes(metric_type::ratio) == std::vector<std::string>{".pct", ".ratio"});
}

TEST_CASE("a base metric is found in front of its suffix, points of its own included") {
  fake_cupti const cupti;
  auto const catalogue = read_catalogue(cupti);
  CHECK(catalogue.base_of("TPC.Triage.sm__realtime.sum.per_second")->name ==
        "TPC.Triage.sm__realtime");
  CHECK(catalogue.base_of("lts__t_bytes.sum")->name == "lts__t_bytes");
  CHECK(catalogue.base_of("lts__t_byte.sum") == nullptr);
  CHECK(catalogue.base_of("") == nullptr);
  CHECK(catalogue.base_of(".sum") == nullptr);
}

TEST_CASE("a misspelt metric is answered with the nearest that exists") {
  fake_cupti const cupti;
  auto const catalogue = read_catalogue(cupti);
  auto const misspelt = catalogue.explain("dram__byte_read.sum.per_secnd");
  CHECK(misspelt.reason == "GH100 has no metric of this name");
  CHECK(misspelt.nearest == "dram__bytes_read.sum.per_second");
  CHECK(catalogue.explain("dram__byte_read").nearest == "dram__bytes_read.sum");
  CHECK(catalogue.explain("TPC.Triage.sm__realtim.avg").nearest == "TPC.Triage.sm__realtime.avg");
  CHECK(catalogue.explain("nothing__like_it.sum").nearest.empty());
}

TEST_CASE("a missing or wrong suffix is answered with one that fits") {
  fake_cupti const cupti;
  auto const catalogue = read_catalogue(cupti);
  auto const bare = catalogue.explain("lts__t_sector_hit_rate");
  CHECK(bare.reason == "it needs a suffix");
  CHECK(bare.nearest == "lts__t_sector_hit_rate.ratio");
  auto const wrong = catalogue.explain("lts__t_sector_hit_rate.pc");
  CHECK(wrong.reason == "lts__t_sector_hit_rate has no suffix .pc");
  CHECK(wrong.nearest == "lts__t_sector_hit_rate.pct");
  CHECK(catalogue.explain("sm__throughput.sum").nearest ==
        "sm__throughput.avg.pct_of_peak_sustained_elapsed");
}

TEST_CASE("a metric that CUPTI lists and refuses is said to be one") {
  fake_cupti const cupti;
  auto const refused = read_catalogue(cupti).explain("sm__cycles_active.avg");
  CHECK(refused.reason == "CUPTI cannot count it on this GH100");
  CHECK(refused.nearest.empty());
}

TEST_CASE("a chip that cannot be sampled has the metrics of launches") {
  fake_cupti const cupti;
  auto const ranges = host_profiler::open(cupti.library.api, counter_engine::ranges, "GH100");
  auto const catalogue = metric_catalogue::read(*ranges, nullptr);
  REQUIRE(catalogue);
  CHECK(catalogue->metrics().size() == 11);
}
