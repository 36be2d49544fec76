// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/timeline/launch_sequences.hpp"
#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::host;

namespace {

/// On a stream, in nanoseconds.
gpu_item item_of(std::uint32_t stream, std::uint64_t launched, std::uint64_t start,
                 std::uint64_t end) {
  gpu_item item;
  item.start = {start};
  item.end = {end};
  item.launched = {launched};
  item.stream = static_cast<stream_id>(stream);
  return item;
}
constexpr std::uint32_t default_stream = 7;

serialized_sum kept_apart(std::uint64_t second_launched, bool fits) {
  serialized_streams found([fits](device_id, std::uint32_t, std::uint32_t) { return fits; });
  found.add(item_of(20, 1000, 10'000, 110'000), {}, {});
  found.add(item_of(default_stream, 1100, 110'000, 120'000), {}, {});
  found.add(item_of(21, second_launched, 120'000, 220'000), {}, {});
  return found.sums().empty() ? serialized_sum{} : found.sums().at(device_id{});
}

}  // namespace

TEST_CASE("streams serialized by the default stream save the shorter work and the pause between") {
  auto const sum = kept_apart(1200, true);
  CHECK(sum.count == 1);
  CHECK(sum.waited_ns == 110'000);
  CHECK(sum.overlap_ns == 110'000);
}

TEST_CASE(
    "the gain does not exceed the waiting time, and is zero if the GPU has no room for both") {
  auto const late = kept_apart(63'000, true);  // and 7 us until it could start
  CHECK(late.waited_ns == 50'000);
  CHECK(late.overlap_ns == 50'000);
  CHECK(kept_apart(1200, false).overlap_ns == 0);
}

TEST_CASE("work launched after the first had ended was not delayed") {
  CHECK(kept_apart(115'000, true).count == 0);
}
