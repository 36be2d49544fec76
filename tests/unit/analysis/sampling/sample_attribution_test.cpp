// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sampling/sample_attribution.hpp"

#include "support/catch.hpp"
#include "support/simulated_gpu.hpp"

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

namespace {

constexpr auto bytes_metric = static_cast<metric_id>(1);

metric_record bytes_read(std::uint32_t device, std::uint32_t metric = 1) {
  metric_record made;
  made.metric = static_cast<metric_id>(metric);
  made.device = static_cast<device_id>(device);
  made.sampled = true;
  return made;
}

void add_samples(sample_attribution& to, metric_id metric, std::uint64_t count, double value) {
  for (std::uint64_t i = 0; i < count; ++i)
    to.add({metric, {trace_start.value + i * 20'000}, 20_us, value});
}

kernel_record ran(duration_ns start, duration_ns end, std::uint32_t correlation = 1) {
  kernel_record kernel;
  kernel.start = trace_start + start;
  kernel.duration = end - start;
  kernel.shape = static_cast<shape_id>(1);
  kernel.correlation = static_cast<correlation_id>(correlation);
  return kernel;
}

}  // namespace

TEST_CASE("samples of one GPU are not used for kernels of another") {
  sample_attribution sampled;
  sampled.define(bytes_read(0, 1), dram_read_metric);
  sampled.define(bytes_read(1, 2), dram_read_metric);
  add_samples(sampled, static_cast<metric_id>(1), 20, 5);
  add_samples(sampled, static_cast<metric_id>(2), 20, 7);
  sampled.end_samples();
  auto kernel = ran(100_us, 200_us);
  sampled.see(kernel, {kernel.device, kernel.shape, {}});
  kernel.device = static_cast<device_id>(1);
  sampled.see(kernel, {kernel.device, kernel.shape, {}});
  kernel.device = static_cast<device_id>(2);
  sampled.see(kernel, {kernel.device, kernel.shape, {}});
  sampled.attribute();
  CHECK(sampled.facts().intervals == 40);
  auto const mean_on = [&](std::uint32_t device) {
    auto const* const found = sampled.figures().find(
        {static_cast<device_id>(device), kernel.shape, {}}, dram_read_metric);
    return found == nullptr ? 0 : found->mean;
  };
  CHECK(mean_on(0) == 25);
  CHECK(mean_on(1) == 35);
  CHECK(mean_on(2) == 0);
}

TEST_CASE("kernels of a graph that is one workload count as one launch") {
  sample_attribution sampled;
  sampled.define(bytes_read(0), dram_read_metric);
  add_samples(sampled, bytes_metric, 60, 10);
  sampled.end_samples();
  workload_id const graph{{}, {}, static_cast<graph_id>(3)};
  for (std::uint32_t launch = 0; launch < 3; ++launch)
    for (int part = 0; part < 4; ++part) {
      duration_ns const start{20'000 + launch * 300'000 + part * 50'000};
      sampled.see(ran(start, start + 45_us, launch + 1), graph);
    }
  sampled.attribute();
  auto const* const found = sampled.figures().find(graph, dram_read_metric);
  REQUIRE(found != nullptr);
  CHECK(found->launches == 3);
  CHECK(found->mean == 100);  // ten samples, from 20 to 215 us
}

TEST_CASE("a mean over active cycles needs the count of those cycles") {
  for (bool const has_cycles : {false, true}) {
    sample_attribution sampled;
    sampled.define(bytes_read(0, 1), occupancy_metric);
    if (has_cycles) sampled.define(bytes_read(0, 2), active_cycles_metric);
    add_samples(sampled, static_cast<metric_id>(1), 20, 50);
    add_samples(sampled, static_cast<metric_id>(2), 20, 30'000);
    sampled.end_samples();
    auto const kernel = ran(100_us, 200_us);
    workload_id const workload{{}, kernel.shape, {}};
    sampled.see(kernel, workload);
    sampled.attribute();
    auto const* const found = sampled.figures().find(workload, occupancy_metric);
    REQUIRE((found != nullptr) == has_cycles);
    if (found != nullptr) CHECK(found->mean == Approx(50));
  }
}

TEST_CASE(
    "ratios and extremes have no figure, and metrics read around launches are not looked at") {
  sample_attribution sampled;
  sampled.define(bytes_read(0), "lts__average_hit_rate.ratio");
  auto exact = bytes_read(0, 2);
  exact.sampled = false;
  sampled.define(exact, dram_read_metric);
  add_samples(sampled, bytes_metric, 20, 0.5);
  add_samples(sampled, static_cast<metric_id>(2), 20, 5);
  sampled.end_samples();
  auto const kernel = ran(100_us, 200_us);
  workload_id const workload{{}, kernel.shape, {}};
  sampled.see(kernel, workload);
  sampled.attribute();
  CHECK(sampled.figures().find(workload, "lts__average_hit_rate.ratio") == nullptr);
  CHECK(sampled.figures().find(workload, dram_read_metric) == nullptr);
  CHECK(sampled.figures().names() == std::vector<std::string>{"lts__average_hit_rate.ratio"});
}

TEST_CASE("a metric missing in some windows has figures from the others") {
  simulated_gpu gpu(21);
  for (int i = 0; i < 6000; ++i) gpu.run("k", 5, {1e6, 50, 30}).wait(gpu.uniform(1, 30));
  auto c = gpu.with_jitter(0.1).sampled();
  auto const middle = c.rows[c.rows.size() / 2].start;
  std::erase_if(c.rows, [&](sample_record const& row) {
    return row.start > middle && row.metric == c.metrics[0].metric;
  });
  analyzed const a(c);
  CHECK(figure_of(a, "k", dram_read_metric)->mean == Approx(1e6).epsilon(0.02));
  CHECK(figure_of(a, "k", tensor_cycles_metric)->mean == Approx(30).epsilon(0.02));
  CHECK(figure_of(a, "k", occupancy_metric)->mean == Approx(50).epsilon(0.02));
}

TEST_CASE("metrics beyond the number that a GPU counts at once are ignored") {
  sample_attribution sampled;
  for (std::uint32_t m = 1; m <= 1000; ++m)
    sampled.define(bytes_read(0, m), numbered("dram__bytes_", static_cast<int>(m)) + ".sum");
  add_samples(sampled, static_cast<metric_id>(1), 20, 5);
  add_samples(sampled, static_cast<metric_id>(1000), 20, 5);
  sampled.end_samples();
  auto const kernel = ran(100_us, 200_us);
  sampled.see(kernel, {kernel.device, kernel.shape, {}});
  sampled.attribute();
  CHECK(sampled.figures().find({kernel.device, kernel.shape, {}}, "dram__bytes_1.sum") != nullptr);
  CHECK(sampled.figures().find({kernel.device, kernel.shape, {}}, "dram__bytes_1000.sum") ==
        nullptr);
}

TEST_CASE("the mean of a clock is as sure as its stretches of samples agree, not as they spread") {
  // Samples of 1600 +- 76 MHz; stretches of 20 of them, 10 ms apart, agree to 1 MHz.
  auto const error_of = [](int stretches, double apart) {
    sample_attribution sampled;
    sampled.define(bytes_read(0), clock_metric);
    for (int stretch = 0; stretch < stretches; ++stretch)
      for (int i = 0; i < 20; ++i) {
        auto const at = static_cast<std::uint64_t>(stretch) * 10'000'000 +
                        static_cast<std::uint64_t>(i) * 20'000;
        auto const value =
            1600e6 + (i % 2 == 0 ? 76e6 : -76e6) + apart * (stretch % 2 == 0 ? 1 : -1);
        sampled.add({bytes_metric, {trace_start.value + at}, 20_us, value});
      }
    sampled.end_samples();
    for (int stretch = 0; stretch < stretches; ++stretch) {
      duration_ns const start{stretch * 10'000'000};
      sampled.see(ran(start, start + 400_us, static_cast<std::uint32_t>(stretch + 1)),
                  {{}, static_cast<shape_id>(1), {}});
    }
    sampled.attribute();
    auto const* const found =
        sampled.figures().find({{}, static_cast<shape_id>(1), {}}, clock_metric);
    REQUIRE(found != nullptr);
    CHECK(found->mean == Approx(1600e6).epsilon(1e-3));
    return found->error;
  };
  CHECK(error_of(1, 0) == Approx(76e6).epsilon(0.02));  // nothing says how far stretches differ
  CHECK(error_of(26, 1e6) == Approx(1e6 / 5).epsilon(0.02));
  CHECK(error_of(26, 50e6) == Approx(50e6 / 5).epsilon(0.02));
}
