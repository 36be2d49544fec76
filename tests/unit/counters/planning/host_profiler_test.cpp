// SPDX-License-Identifier: Apache-2.0
// What a chip has, and what becomes of a call that fails.
#include "guest/metrics/planning/host_profiler.hpp"

#include "support/catch.hpp"
#include "support/fake_cupti.hpp"

using namespace gpuprof;
using namespace gpuprof::guest;
using gpuprof::test::fake_cupti;

namespace {

using names = std::vector<std::string>;

result<host_profiler> open_ranges(fake_cupti const& cupti) {
  return host_profiler::open(cupti.library.api, counter_engine::ranges, "GH100");
}

}  // namespace

TEST_CASE("a chip has counters, ratios and throughputs, each with its suffixes") {
  fake_cupti const cupti;
  auto const host = open_ranges(cupti);
  REQUIRE(host);
  CHECK(host->chip() == "GH100");
  CHECK(*host->base_metrics(metric_type::ratio) == names{"lts__t_sector_hit_rate"});
  CHECK(*host->base_metrics(metric_type::throughput) == names{"sm__throughput"});
  CHECK(host->base_metrics(metric_type::counter)->size() == 9);
  CHECK(*host->suffixes("sm__cycles_active", metric_type::counter) ==
        names{".avg", ".sum", ".sum.per_second"});
}

TEST_CASE("the engines know different metrics") {
  fake_cupti const cupti;
  auto const sampling = host_profiler::open(cupti.library.api, counter_engine::sampling, "GH100");
  REQUIRE(sampling);
  CHECK(sampling->engine() == counter_engine::sampling);
  CHECK(sampling->base_metrics(metric_type::throughput)->empty());
  CHECK(sampling->configure(names{"TPC.Triage.sm__realtime.avg"})->passes == 1);
  CHECK(open_ranges(cupti)->configure(names{"TPC.Triage.sm__realtime.avg"})->passes == 0);
}

TEST_CASE("a metric says what it counts, where and in which unit") {
  fake_cupti const cupti;
  auto const host = open_ranges(cupti);
  auto const counter = host->properties("dram__bytes_read.sum");
  REQUIRE(counter);
  CHECK(counter->description == "what it counts");
  CHECK(counter->hardware_unit == "sm");
  CHECK(counter->unit == "byte");
  auto const ratio = host->properties("lts__t_sector_hit_rate");
  REQUIRE(ratio);
  CHECK(ratio->unit.empty());
  CHECK(ratio->type == metric_type::ratio);
  CHECK_FALSE(host->properties("nosuch__metric"));
}

TEST_CASE("a configuration holds the passes of all its metrics together") {
  fake_cupti const cupti;
  auto const host = open_ranges(cupti);
  CHECK(host->configure(names{"sm__cycles_active.avg", "dram__bytes_read.sum"})->passes == 1);
  auto const three = host->configure(
      names{"sm__cycles_active.avg", "dram__bytes_read.sum", "dram__bytes_write.sum"});
  CHECK(three->passes == 2);
  CHECK(three->image.size() == 1);
}

TEST_CASE("a refused name does not affect other metrics") {
  fake_cupti const cupti;
  auto const host = open_ranges(cupti);
  auto const refused = host->configure(names{"sm__cycles_active.avg", "nosuch__metric.sum"});
  REQUIRE(refused);
  CHECK(refused->passes == 0);
  CHECK(host->configure(names{"sm__cycles_active.avg"})->passes == 1);
  CHECK(host->configure(names{"sm__cycles_active.avg", "pcie__read_bytes.sum"})->passes == 0);
  CHECK(host->configure(names{"pcie__read_bytes.sum"})->passes == 1);
  CHECK(cupti.host.living_objects() == 1);
}

TEST_CASE(
    "an unknown chip, a library without counters and a missing part of it give different errors") {
  fake_cupti cupti;
  auto const unknown = host_profiler::open(cupti.library.api, counter_engine::ranges, "GX100");
  CHECK(unknown.message() == "this libcupti does not know a chip GX100");

  cupti.fail_nth("cuptiProfilerHostInitialize", 2, CUPTI_ERROR_NOT_INITIALIZED);
  CHECK(open_ranges(cupti).message().find("libnvperf_host.so") != std::string::npos);
  cupti.fail_nth("cuptiProfilerHostInitialize", 3, CUPTI_ERROR_NOT_SUPPORTED);
  CHECK(host_profiler::open(cupti.library.api, counter_engine::sampling, "GH100").message() ==
        "GH100 has no counters that can be sampled");
  cupti.fail_nth("cuptiProfilerHostInitialize", 4, CUPTI_ERROR_OUT_OF_MEMORY);
  CHECK(open_ranges(cupti).message().starts_with(
      "counters are off: cuptiProfilerHostInitialize failed"));

  cupti.library.api.cuptiProfilerHostGetConfigImage = nullptr;
  CHECK(open_ranges(cupti).message() ==
        "counters are off: this libcupti has no cuptiProfilerHostGetConfigImage, CUDA 12.6 or "
        "later is needed");
  CHECK(known_chips(cupti.library.api).message().starts_with("counters are off"));
  CHECK(cupti.library.api.first_missing_for_tracing() == nullptr);
}

TEST_CASE("the known chips are listed, or the reason why not") {
  fake_cupti cupti;
  CHECK(*known_chips(cupti.library.api) == names{"TU102", "GH100"});
  cupti.fail_nth("cuptiProfilerHostGetSupportedChips", 2, CUPTI_ERROR_NOT_INITIALIZED);
  CHECK(known_chips(cupti.library.api).message().find("libnvperf_host.so") != std::string::npos);
}

TEST_CASE("whichever call fails, it is named and every object is released") {
  for (auto const* const function :
       {"cuptiProfilerHostInitialize", "cuptiProfilerHostGetBaseMetrics",
        "cuptiProfilerHostGetSubMetrics", "cuptiProfilerHostGetMetricProperties",
        "cuptiProfilerHostConfigAddMetrics", "cuptiProfilerHostGetConfigImageSize",
        "cuptiProfilerHostGetConfigImage", "cuptiProfilerHostGetNumOfPasses"}) {
    INFO(function);
    fake_cupti cupti;
    {
      auto const host = open_ranges(cupti);
      REQUIRE(host);
      cupti.fail_nth(function, 0, CUPTI_ERROR_OUT_OF_MEMORY);
      unsigned failed = 0;
      auto const look = [&](auto const& answer) {
        if (answer) return;
        ++failed;
        CHECK(answer.message().find(function) != std::string::npos);
      };
      look(host->base_metrics(metric_type::counter));
      look(host->suffixes("sm__cycles_active", metric_type::counter));
      look(host->properties("sm__cycles_active"));
      look(host->configure(names{"sm__cycles_active.avg"}));
      CHECK(failed == 1);
      CHECK(cupti.host.living_objects() == 1);
    }
    CHECK(cupti.host.living_objects() == 0);
  }
}

TEST_CASE("an object that moves is released once") {
  fake_cupti const cupti;
  {
    auto first = open_ranges(cupti);
    host_profiler const second = *std::move(first);
    CHECK(second.configure(names{"sm__cycles_active.avg"})->passes == 1);
  }
  CHECK(cupti.host.living_objects() == 0);
  CHECK(cupti.count("cuptiProfilerHostInitialize") == cupti.count("cuptiProfilerHostDeinitialize"));
}
