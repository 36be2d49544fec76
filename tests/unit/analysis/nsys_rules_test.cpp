// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/nsys_rules/gpu_use.hpp"
#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::host::nsys_rules;

namespace {

gpu_work work(std::uint64_t start, std::uint64_t end, std::uint32_t device = 0,
              std::uint32_t context = 1) {
  return {device_id{device}, context_id{context}, {start}, {end}};
}

}  // namespace

TEST_CASE("a gap is time without work of that GPU, whatever other GPUs do") {
  gpu_gaps gaps(10, std::nullopt);
  for (auto const& each : {work(0, 100), work(10, 50), work(40, 45, 1), work(110, 120),
                           work(131, 140), work(200, 210, 1), work(300, 310)})
    gaps.add(each);
  auto const rows = gaps.take();
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].duration == 160);  // 140 to 300; 100 to 110 is not longer than 10
  CHECK(rows[1].duration == 155);
  CHECK(raw(rows[1].device) == 1);
  CHECK(rows[2].duration == 11);
  CHECK(rows[2].start.value == 120);
}

TEST_CASE("the longest rows are kept, and of equal rows the earlier comes first") {
  longest_rows<gap_row> rows(2);
  for (std::uint64_t i = 0; i < 1000; ++i) rows.add({i % 100, {i}, device_id{}, context_id{}});
  auto const kept = rows.take();
  REQUIRE(kept.size() == 2);
  CHECK(kept[0].duration == 99);
  CHECK(kept[0].start.value == 99);
  CHECK(kept[1].start.value == 199);
  longest_rows<gap_row> none(0);
  none.add({1, {0}, device_id{}, context_id{}});
  CHECK(none.take().empty());
}

TEST_CASE("neighboring chunks below the threshold are one row with their mean") {
  gpu_time_use use(10);
  auto const all = {work(0, 100), work(120, 140), work(300, 350), work(300, 350), work(900, 1000)};
  for (auto const& each : all) use.find_extent(each);
  for (auto const& each : all) use.add(each);
  auto const rows = use.below(50);
  REQUIRE(rows.size() == 2);  // chunk 3 is used by two at once: 100 %
  CHECK(rows[0].percent == 0);
  CHECK(rows[0].start.value == 400);
  CHECK(rows[0].duration == 500);
  CHECK(rows[1].percent == 10);
  CHECK(rows[1].start.value == 100);
  CHECK(rows[1].duration == 200);
}

TEST_CASE("work shorter than a nanosecond a chunk, or of no length, does no harm") {
  gpu_time_use use(1000);
  use.find_extent(work(5, 5));
  use.add(work(5, 5));
  CHECK(use.below(100).empty());
  gpu_time_use few(1000);
  few.find_extent(work(0, 3));
  few.add(work(0, 1));
  REQUIRE(few.below(50).size() == 1);
  CHECK(few.below(50)[0].duration == 2);
}

TEST_CASE("calls are matched by name in the same way as by SQL LIKE") {
  CHECK(is_asynchronous_copy_call("cudaMemcpyAsync_v3020", api_domain::runtime));
  CHECK_FALSE(is_asynchronous_copy_call("cudaMemcpy_v3020", api_domain::runtime));
  CHECK(is_blocking_copy_call("cudaMemcpy2D_v3020", api_domain::runtime));
  CHECK(is_blocking_copy_call("cuMemcpyDtoH_v2", api_domain::driver));
  CHECK_FALSE(is_blocking_copy_call("cuMemcpyDtoH_v2", api_domain::runtime));
  CHECK(is_blocking_fill_call("cudaMemset_v3020", api_domain::runtime));
  CHECK_FALSE(is_blocking_fill_call("cudaMemsetAsync_v3020", api_domain::runtime));
  CHECK(is_wait_call("cudaStreamSynchronize_v3020", api_domain::runtime));
  CHECK_FALSE(is_wait_call("cudaEventSynchronize_v3020", api_domain::runtime));
  CHECK(is_wait_call("cuCtxSynchronize", api_domain::driver));
}
