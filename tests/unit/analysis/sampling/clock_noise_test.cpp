// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sampling/fit_columns.hpp"
#include "support/catch.hpp"

#include <cmath>
#include <random>

using namespace gpuprof;
using namespace gpuprof::host;

namespace {

constexpr timestamp_ns begin{1'700'000'000'000'000'000};

/// Launches of two kernels in turn, whose ends are off by up to `off_ns`, with a gap of 500 ns and
/// up to `pause_ns` more in every other.
double noise_of(double off_ns, double pause_ns, int launches = 2000) {
  sample_series samples;
  auto const column = samples.define("dram__bytes_read.sum");
  for (int i = 0; i < launches; ++i)
    samples.add(column, {begin.value + std::uint64_t{20'000} * static_cast<unsigned>(i)}, {20'000},
                1, 1u << 20);
  samples.finish();
  device_work work(samples);
  std::mt19937_64 random(1);
  auto const uniform = [&](double from, double to) {
    return static_cast<std::int64_t>(std::uniform_real_distribution<>(from, to)(random));
  };
  std::int64_t now = 1000;
  for (int i = 0; i < launches; ++i) {
    auto const start = now + uniform(-off_ns, off_ns), end = now + 3000 + uniform(-off_ns, off_ns);
    work.add_launch({{}, static_cast<shape_id>(1 + i % 2), {}}, {}, begin + duration_ns{start},
                    {end - start});
    now += 3500 + (i % 2 == 0 ? 0 : uniform(0, pause_ns));
  }
  work.finish();
  return clock_noise_of(work);
}

}  // namespace

TEST_CASE("the noise of record ends is measured by the variation of the gap between two launches") {
  CHECK(noise_of(0, 800) < 1);
  CHECK(noise_of(40, 800) == Approx(40 / std::sqrt(3)).epsilon(0.1));
}

TEST_CASE("the noise of record ends is limited to that of 100 ns") {
  CHECK(noise_of(150, 800) == 58);
}

TEST_CASE("with too few consecutive launches the default noise is used") {
  CHECK(noise_of(0, 800, 40) == 58);
}
