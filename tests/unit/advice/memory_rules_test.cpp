// SPDX-License-Identifier: Apache-2.0
#include "made_run.hpp"
#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::host::advice;

namespace {

/// 100 copies to the GPU, alone on it: 50 GB/s take 1 ms for 50 MB.
copy_facts to_gpu(double total, std::uint64_t bytes, memory_kind source = memory_kind::pinned) {
  copy_facts copy;
  copy.kind = copy_kind::host_to_device;
  copy.source = source;
  copy.destination = memory_kind::device;
  copy.asynchronous = true;
  copy.range = "forward";
  copy.count = 100;
  copy.bytes = bytes;
  copy.total_ns = copy.alone_ns = total;
  return copy;
}

run_facts run_with(copy_facts const& copy) {
  auto facts = made_run(600 * ms, time_bucket::synchronization, 500 * ms);
  facts.devices[0].ledger[time_bucket::transfer] = copy.alone_ns;
  facts.devices[0].ledger[time_bucket::synchronization] = 400 * ms - copy.alone_ns;
  facts.steps.busy_ns = 600 * ms + copy.alone_ns;
  facts.copies = {copy};
  return facts;
}

constexpr std::uint64_t gb = 1'000'000'000;

}  // namespace

TEST_CASE("pageable copies could run at the pinned rate, or beside the kernels") {
  auto const found =
      found_by("pageable_copy", run_with(to_gpu(200 * ms, 4 * gb, memory_kind::pageable)));
  REQUIRE(found.size() == 1);
  CHECK(found[0].gain.low_ns == Approx(100 * ms));  // 4 GB at 0.8 of 50 GB/s take 100
  CHECK(found[0].gain.high_ns == Approx(200 * ms));
  CHECK(found[0].to_do.find("pin_memory=True") != std::string::npos);
  // What held some copies longer may be gone in the next run.
  auto held = to_gpu(200 * ms, 4 * gb, memory_kind::pageable);
  held.quick_ns = 150 * ms;
  auto const less = found_by("pageable_copy", run_with(held));
  REQUIRE(less.size() == 1);
  CHECK(less[0].gain.low_ns == Approx(50 * ms));
  CHECK(less[0].gain.high_ns == found[0].gain.high_ns);
}

TEST_CASE("pageable copies above 0.6 of the pinned rate, and pinned ones, are not reported") {
  CHECK(found_by("pageable_copy", run_with(to_gpu(200 * ms, 6 * gb, memory_kind::pageable)))
            .empty());  // 30 GB/s
  CHECK(found_by("pageable_copy", run_with(to_gpu(200 * ms, 59 * gb / 10, memory_kind::pageable)))
            .size() == 1);
  CHECK(found_by("pageable_copy", run_with(to_gpu(200 * ms, 4 * gb))).empty());
}

TEST_CASE("without peaks, pageable copies that are alone on the GPU may hide at best") {
  auto facts = run_with(to_gpu(200 * ms, 4 * gb, memory_kind::pageable));
  facts.devices[0].peak = [](std::string_view) { return std::optional<double>(); };
  auto const found = found_by("pageable_copy", facts);
  REQUIRE(found.size() == 1);
  CHECK(found[0].gain.low_ns == 0);
  CHECK(found[0].gain.high_ns == Approx(200 * ms));
  CHECK(found[0].what.ends_with("use pageable memory: 20 GB/s"));
  facts.copies[0].alone_ns = 15 * ms;  // of 1000
  CHECK(found_by("pageable_copy", facts).empty());
}

TEST_CASE("copies of warm-up are no finding") {
  auto facts = run_with(to_gpu(200 * ms, 4 * gb, memory_kind::pageable));
  facts.copies[0].in_warm_up = true;
  CHECK(found_by("pageable_copy", facts).empty());
}

TEST_CASE("idle time after blocking copies is shared among the pageable ones by their part") {
  auto copy = to_gpu(200 * ms, 4 * gb, memory_kind::pageable);
  copy.asynchronous = false;
  copy.blocked_ns = 300 * ms;
  auto facts = run_with(copy);
  facts.gaps = {waits("cudaMemcpy", 100, 100 * ms, 80 * ms)};
  facts.gaps[0].kind = call_kind::blocking_copy;
  auto const pageable = found_by("pageable_copy", facts);
  REQUIRE(pageable.size() == 1);
  CHECK(pageable[0].gain.high_ns == Approx(300 * ms));
  CHECK(found_by("synchronous_copy", facts).empty());
  CHECK(found_by("sync_point", facts).empty());

  auto pinned = copy;
  pinned.source = memory_kind::pinned;
  pinned.blocked_ns = 100 * ms;
  facts.copies.push_back(pinned);
  auto const synchronous = found_by("synchronous_copy", facts);
  REQUIRE(synchronous.size() == 1);
  CHECK(synchronous[0].gain.high_ns == Approx(25 * ms));  // 100 of 400 blocked
  CHECK(synchronous[0].gain.low_ns == Approx(20 * ms));
}

TEST_CASE("pinned copies while no kernel runs could overlap kernels") {
  auto const found = found_by("copy_alone", run_with(to_gpu(100 * ms, 5 * gb)));
  REQUIRE(found.size() == 1);
  CHECK(found[0].gain.low_ns == 0);
  CHECK(found[0].gain.high_ns == Approx(100 * ms));
  CHECK(found_by("copy_alone", run_with(to_gpu(19 * ms, gb))).empty());
  CHECK(found_by("copy_alone", run_with(to_gpu(100 * ms, 4 * gb, memory_kind::pageable))).empty());
}

TEST_CASE("copies cannot hide behind more kernel time than there is") {
  auto facts = run_with(to_gpu(300 * ms, 15 * gb));
  facts.devices[0].ledger[time_bucket::compute] = 50 * ms;
  auto const found = found_by("copy_alone", facts);
  REQUIRE(found.size() == 1);
  // And the pauses of the GPU that a hundred copies in the stream of the kernels cost.
  CHECK(found[0].gain.high_ns == Approx(50 * ms + 100 * facts.run.back_to_back));
}

TEST_CASE("small copies in a row cost a launch each") {
  auto copy = to_gpu(40 * ms, 500'000'000);  // 10 ms at once
  copy.is_small = true;
  copy.count = 20'000;
  copy.in_a_row = 18'000;
  auto facts = run_with(copy);
  facts.devices[0].ledger[time_bucket::launch_bound] = 100 * ms;
  auto const found = found_by("small_copies", facts);
  REQUIRE(found.size() == 1);
  CHECK(found[0].gain.low_ns == Approx(30 * ms));
  CHECK(found[0].gain.high_ns == Approx(66 * ms));  // 40 + 18'000 x 2 us - 10
  facts.copies[0].in_a_row = 17'900;                // 9.5 in a row
  CHECK(found_by("small_copies", facts).empty());
}

TEST_CASE("without peaks, small copies that fit into one take the time of one") {
  auto copy = to_gpu(40 * ms, 80'000);  // 4 B each
  copy.is_small = true;
  copy.count = 20'000;
  copy.in_a_row = 18'000;  // ten in a row
  auto facts = run_with(copy);
  facts.devices[0].peak = [](std::string_view) { return std::optional<double>(); };
  facts.devices[0].ledger[time_bucket::launch_bound] = 100 * ms;
  auto const found = found_by("small_copies", facts);
  REQUIRE(found.size() == 1);
  CHECK(found[0].gain.low_ns == Approx(36 * ms));  // a tenth of the copies stays
  facts.copies[0].bytes = 20'000 * std::uint64_t{60'000};
  CHECK(found_by("small_copies", facts).empty());
}

TEST_CASE("equal traffic to the host and back is a round trip") {
  auto facts = run_with(to_gpu(100 * ms, 5 * gb));
  auto back = facts.copies[0];
  back.kind = copy_kind::device_to_host;
  facts.copies.push_back(back);
  facts.devices[0].ledger[time_bucket::transfer] = 200 * ms;
  auto const found = found_by("round_trip", facts);
  REQUIRE(found.size() == 1);
  CHECK(found[0].gain.high_ns == Approx(200 * ms));
  facts.copies[1].bytes -= 1;
  CHECK(found_by("round_trip", facts).empty());
}

TEST_CASE("memory that is allocated each step costs its calls or the idle time behind them") {
  auto facts = made_run(700 * ms, time_bucket::allocation, 950 * ms);
  facts.gaps = {gaps(time_bucket::allocation, 200, 150 * ms, 120 * ms)};
  facts.calls = {{.name = "cudaMalloc",
                  .kind = call_kind::allocate,
                  .range = "step",
                  .count = 100,
                  .after_warm_up = 90,
                  .after_warm_up_ns = 50 * ms},
                 {.name = "cudaFree",
                  .kind = call_kind::allocate,
                  .range = "step",
                  .count = 100,
                  .after_warm_up = 90,
                  .after_warm_up_ns = 100 * ms}};
  auto found = found_by("alloc_in_loop", facts);
  REQUIRE(found.size() == 1);
  CHECK(found[0].gain.low_ns == Approx(120 * ms));
  CHECK(found[0].gain.high_ns == Approx(150 * ms));  // the GPU idles while they run
  CHECK(found[0].call == "cudaFree");
  facts.calls[0].after_warm_up = 0;
  facts.calls[1].after_warm_up = 89;  // less than one a step
  CHECK(found_by("alloc_in_loop", facts).empty());
}

TEST_CASE("page migrations cost their time from 2 % of the window on") {
  auto facts = made_run(900 * ms, time_bucket::cpu_work);
  facts.migrated_bytes = 2e9;  // 40 ms at 50 GB/s
  facts.migration_ns = 300 * ms;
  facts.migration_alone_ns = 100 * ms;
  auto const found = found_by("um_faults", facts);
  REQUIRE(found.size() == 1);
  CHECK(found[0].gain.low_ns == Approx(60 * ms));
  CHECK(found[0].gain.high_ns == Approx(300 * ms));
  facts.migrated_bytes = 0.9e9;
  CHECK(found_by("um_faults", facts).empty());
}
