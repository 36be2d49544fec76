// SPDX-License-Identifier: Apache-2.0
#include "guest/live/sampled_rates.hpp"

#include "support/catch.hpp"

#include <limits>

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

constexpr auto metric(std::uint32_t id) {
  return static_cast<metric_id>(id);
}

sample_record sample(std::uint32_t of, std::int64_t us, double value) {
  return {metric(of), {}, duration_ns{us * 1000}, value};
}

}  // namespace

TEST_CASE("sampled rates are amounts over the time in which they were sampled") {
  sampled_sums sums;
  CHECK_FALSE(sums.rates());
  sums.define(metric(1), "dram__bytes_read.sum");
  sums.define(metric(2), "dram__bytes_write.sum");
  sums.define(metric(3), "lts__t_bytes.sum");
  sums.define(metric(4), "sm__cycles_elapsed.avg.per_second");
  sums.define(metric(5), "sm__cycles_active.avg");
  sums.define(metric(6), "sm__pipe_tensor_cycles_active.avg");
  sums.define(metric(7), "dram__cycles_active.avg");  // no rate needs it
  sums.add(std::vector{sample(1, 10, 1000), sample(1, 30, 0), sample(2, 10, 400), sample(2, 30, 0),
                       sample(3, 10, 4000), sample(4, 10, 2e9), sample(4, 30, 1e9),
                       sample(5, 10, 100), sample(5, 30, 0), sample(6, 10, 200), sample(7, 10, 5),
                       sample(1, 10, std::numeric_limits<double>::quiet_NaN())});
  auto const rates = sums.rates();
  REQUIRE(rates);
  CHECK(rates->seconds == Approx(40e-6));
  CHECK(*rates->dram_rate == Approx(1400 / 40e-6));
  CHECK(*rates->l2_rate == Approx(4000 / 10e-6));
  CHECK(*rates->clock == Approx(1.25e9));
  CHECK(*rates->tensor_active == Approx(0.5));
}

TEST_CASE("what was not sampled has no rate") {
  sampled_sums sums;
  sums.define(metric(1), "dram__bytes_read.sum");
  sums.define(metric(6), "sm__pipe_tensor_cycles_active.avg");
  sums.add(std::vector{sample(1, 10, 1000), sample(6, 10, 200)});
  auto const rates = sums.rates();
  REQUIRE(rates);
  CHECK_FALSE(rates->dram_rate);  // what was written is not known
  CHECK_FALSE(rates->l2_rate);
  CHECK_FALSE(rates->clock);
  CHECK_FALSE(rates->tensor_active);
}
