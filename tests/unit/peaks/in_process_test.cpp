// SPDX-License-Identifier: Apache-2.0
// Measuring inside a program that uses CUDA itself, with the fake driver of tests/replay.
#include "guest/driver/cuda_compute.hpp"
#include "guest/peaks/measure.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <thread>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::guest::peaks;

namespace {

cuda_compute const& driver() {
  static cuda_compute const table = [] {
    auto loaded = load_cuda_compute();
    if (!loaded) FAIL(loaded.message());
    loaded->cuInit(0);
    return *loaded;
  }();
  return table;
}

measure_options quick(std::vector<test_id> tests) {
  measure_options options;
  options.tests = std::move(tests);
  options.quick = true;
  return options;
}

/// How the only result came out.
std::string outcome_on(int ordinal, test_id test) {
  auto const peaks = measure(ordinal, quick({test}));
  if (!peaks) return peaks.message();
  auto const& result = peaks->results.front();
  return result.outcome == peak_outcome::measured ? "measured" : result.remark;
}

}  // namespace

TEST_CASE("a program's own context stays current, whatever was measured in between") {
  auto const& cuda = driver();
  CUcontext mine = nullptr, after = nullptr;
  REQUIRE(cuda.cuDevicePrimaryCtxRetain(&mine, 0) == CUDA_SUCCESS);
  REQUIRE(cuda.cuCtxPushCurrent_v2(mine) == CUDA_SUCCESS);
  CHECK(outcome_on(0, test_id::fp64) == "measured");
  CHECK(outcome_on(0, test_id::graph_node) == "measured");
  CHECK(outcome_on(1, test_id::int32) == "measured");
  REQUIRE(cuda.cuCtxPopCurrent_v2(&after) == CUDA_SUCCESS);
  CHECK(after == mine);
  CHECK(cuda.cuCtxPopCurrent_v2(&after) != CUDA_SUCCESS);  // there was no other
  CHECK(cuda.cuDevicePrimaryCtxRelease_v2(0) == CUDA_SUCCESS);
  CHECK(cuda.cuDevicePrimaryCtxRelease_v2(0) != CUDA_SUCCESS);  // nor is it held by anyone else
}

TEST_CASE("two GPUs can be measured at the same time") {
  std::string outcomes[2];
  std::jthread first([&] { outcomes[0] = outcome_on(0, test_id::tensor_bf16); });
  std::jthread second([&] { outcomes[1] = outcome_on(1, test_id::l2_read); });
  first.join();
  second.join();
  CHECK(outcomes[0] == "measured");
  CHECK(outcomes[1] == "measured");
}

TEST_CASE("progress covers all tests in order, and then the sustained runs") {
  std::vector<std::string> seen;
  measure_options options;
  options.tests = {test_id::int32, test_id::fp64, test_id::h2d};
  options.on_progress = [&](std::string_view test, std::size_t done, std::size_t all) {
    CHECK(done < all);
    seen.emplace_back(test);
  };
  REQUIRE(measure(0, options));
  CHECK(seen == std::vector<std::string>{"int32", "fp64", "h2d", "sustained fp64"});
}

TEST_CASE("a missing GPU is reported with the existing ones") {
  for (int const ordinal : {-1, 2, 1000}) {
    auto const none = measure(ordinal, quick({test_id::fp64}));
    REQUIRE_FALSE(none);
    CHECK(none.message() ==
          "there is no GPU " + std::to_string(ordinal) + ": the driver sees 2, numbered from 0");
    CHECK_FALSE(key_of(ordinal));
  }
}

TEST_CASE("the key is known without measuring, and equals that of the measurement") {
  auto const key = key_of(1);
  REQUIRE(key);
  auto const peaks = measure(1, quick({test_id::int32}));
  REQUIRE(peaks);
  CHECK(peaks->key == *key);
  CHECK(key->sm_count == 132);
  CHECK(key->power_limit_w == 700);
  CHECK(key->uuid != key_of(0)->uuid);
}
