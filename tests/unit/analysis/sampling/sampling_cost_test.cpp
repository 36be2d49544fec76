// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sampling/sampling_cost.hpp"

#include "support/catch.hpp"
#include "support/simulated_gpu.hpp"

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

namespace {

/// Launches of 100 us outside the window and of `inside_us` in it, as many as `times` of each.
std::optional<sampling_price> price_of(double inside_us, int times) {
  std::vector<event> events;
  for (int i = 0; i < 2 * times; ++i) {
    duration_ns const start{i * 200'000 + 1000};
    duration_ns const length{i < times ? 100'000 : static_cast<std::int64_t>(inside_us * 1000)};
    events.push_back(kernel("k", start, start + length));
  }
  auto const t = trace_of(std::move(events));
  launch_metrics const none;
  workload_times times_of(none);
  sampling_cost cost;
  sampling_window_record window;
  window.start = trace_start + duration_ns{times * 200'000};
  window.end = trace_start + 1'000_ms;
  cost.add(window);
  for (auto const& kernel : t.kernels) cost.add(kernel, times_of.add(kernel));
  return cost.price();
}

}  // namespace

TEST_CASE("the price of sampling is the extra time of the same work inside windows") {
  auto const price = price_of(105, 20);
  REQUIRE(price);
  CHECK(price->ratio == Approx(1.05));
  CHECK(price->workloads == 1);
}

TEST_CASE("too few launches give no price") {
  CHECK_FALSE(price_of(105, 5));
}
