// SPDX-License-Identifier: Apache-2.0
// A name that cannot be read gets the names that it may have meant.
#include "guest/metrics/planning/metric_catalog.hpp"

#include "support/catch.hpp"
#include "support/fake_cupti.hpp"

using namespace gpuprof;
using namespace gpuprof::guest;
using gpuprof::test::fake_cupti;

namespace {

metric_catalog read_catalog(fake_cupti const& cupti) {
  auto const ranges = host_profiler::open(cupti.library.api, counter_engine::ranges, "GH100");
  auto const sampling = host_profiler::open(cupti.library.api, counter_engine::sampling, "GH100");
  auto catalog = metric_catalog::read(*ranges, &*sampling);
  REQUIRE(catalog);
  return *std::move(catalog);
}

}  // namespace

TEST_CASE("metrics of both engines are in one list, each once") {
  fake_cupti const cupti;
  auto const catalog = read_catalog(cupti);
  CHECK(catalog.metrics().size() == 12);
  CHECK(catalog.metrics().front().name == "TPC.Triage.sm__realtime");
  auto const* const both = catalog.base_of("sm__cycles_active.avg");
  REQUIRE(both != nullptr);
  CHECK((both->by_ranges && both->by_sampling));
  auto const* const sampled = catalog.base_of("TPC.Triage.sm__realtime");
  REQUIRE(sampled != nullptr);
  CHECK((!sampled->by_ranges && sampled->by_sampling));
  CHECK(catalog.suffixes(metric_type::ratio) == std::vector<std::string>{".pct", ".ratio"});
}

TEST_CASE("a base metric is the part before the suffix, even with points in its name") {
  fake_cupti const cupti;
  auto const catalog = read_catalog(cupti);
  CHECK(catalog.base_of("TPC.Triage.sm__realtime.sum.per_second")->name ==
        "TPC.Triage.sm__realtime");
  CHECK(catalog.base_of("lts__t_bytes.sum")->name == "lts__t_bytes");
  CHECK(catalog.base_of("lts__t_byte.sum") == nullptr);
  CHECK(catalog.base_of("") == nullptr);
  CHECK(catalog.base_of(".sum") == nullptr);
}

TEST_CASE("a misspelled metric is answered with the nearest that exists") {
  fake_cupti const cupti;
  auto const catalog = read_catalog(cupti);
  auto const misspelled = catalog.explain("dram__byte_read.sum.per_secnd");
  CHECK(misspelled.reason == "GH100 has no metric of this name");
  CHECK(misspelled.nearest == "dram__bytes_read.sum.per_second");
  CHECK(catalog.explain("dram__byte_read").nearest == "dram__bytes_read.sum");
  CHECK(catalog.explain("TPC.Triage.sm__realtim.avg").nearest == "TPC.Triage.sm__realtime.avg");
  CHECK(catalog.explain("nothing__like_it.sum").nearest.empty());
}

TEST_CASE("a missing or wrong suffix is answered with one that fits") {
  fake_cupti const cupti;
  auto const catalog = read_catalog(cupti);
  auto const bare = catalog.explain("lts__t_sector_hit_rate");
  CHECK(bare.reason == "it needs a suffix");
  CHECK(bare.nearest == "lts__t_sector_hit_rate.ratio");
  auto const wrong = catalog.explain("lts__t_sector_hit_rate.pc");
  CHECK(wrong.reason == "lts__t_sector_hit_rate has no suffix .pc");
  CHECK(wrong.nearest == "lts__t_sector_hit_rate.pct");
  CHECK(catalog.explain("sm__throughput.sum").nearest ==
        "sm__throughput.avg.pct_of_peak_sustained_elapsed");
}

TEST_CASE("a metric that CUPTI lists but refuses is reported as such") {
  fake_cupti const cupti;
  auto const refused = read_catalog(cupti).explain("sm__cycles_active.avg");
  CHECK(refused.reason == "CUPTI cannot count it on this GH100");
  CHECK(refused.nearest.empty());
}

TEST_CASE("a chip that cannot be sampled has the metrics of launches") {
  fake_cupti const cupti;
  auto const ranges = host_profiler::open(cupti.library.api, counter_engine::ranges, "GH100");
  auto const catalog = metric_catalog::read(*ranges, nullptr);
  REQUIRE(catalog);
  CHECK(catalog->metrics().size() == 11);
}
