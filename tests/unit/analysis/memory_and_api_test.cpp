// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/api_summary.hpp"
#include "host/analysis/memory_summary.hpp"
#include "support/catch.hpp"
#include "support/trace_of.hpp"

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

TEST_CASE("copies are listed by direction, fills on a line of their own") {
  auto const t =
      trace_of({copy(copy_kind::host_to_device, 1'000'000, 0_us, 10_us),
                copy(copy_kind::host_to_device, 3'000'000, 10_us, 40_us),
                copy(copy_kind::peer_to_peer, 8'000'000, 40_us, 45_us), fill(500, 50_us, 51_us)});
  memory_operations operations;
  for (auto const& c : t.copies) operations.add(c);
  for (auto const& f : t.fills) operations.add(f);

  auto const by_time = operations.by_time();
  REQUIRE(by_time.size() == 3);
  CHECK(by_time[0].operation == "[CUDA memcpy Host-to-Device]");
  CHECK(by_time[0].time.total == 40'000);
  CHECK(by_time[0].bytes.median == 2'000'000);
  CHECK(by_time[2].operation == "[CUDA memset]");
  auto const by_size = operations.by_size();
  CHECK(by_size[0].operation == "[CUDA memcpy Peer-to-Peer]");
}

TEST_CASE("a record of a batch counts as that many copies of equal size and length") {
  auto t = trace_of({copy(copy_kind::device_to_host, 1'000, 0_us, 10_us),
                     copy(copy_kind::device_to_host, 16'003, 10_us, 42_us)});
  t.copies.at(1).batch = 16;
  memory_operations operations;
  for (auto const& c : t.copies) operations.add(c);
  auto const row = operations.by_time().at(0);
  CHECK(row.time.count == 17);
  CHECK(row.time.total == 42'000);
  CHECK(row.time.minimum == 2'000);
  CHECK(row.bytes.count == 17);
  CHECK(row.bytes.total == 17'003);
  CHECK(row.bytes.maximum == 1'001);
  CHECK(row.bytes.median == 1'000);
}

TEST_CASE("transfers of unified memory are copies, its page faults are not") {
  memory_operations operations;
  operations.add(
      unified_memory_record{.start = trace_start, .duration = 5_us, .counter = 1, .value = 4096});
  operations.add(
      unified_memory_record{.start = trace_start, .duration = 5_us, .counter = 3, .value = 9});
  auto const rows = operations.by_time();
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].operation == "[CUDA memcpy Unified Host-to-Device]");
  CHECK(rows[0].bytes.total == 4096);
}

TEST_CASE("migrations of unified memory are summed by address, most bytes first") {
  migrations moved;
  CHECK(moved.empty());
  auto const add = [&](std::uint32_t counter, std::uint64_t address, std::uint64_t bytes) {
    moved.add(unified_memory_record{.start = trace_start,
                                    .duration = 2_us,
                                    .counter = counter,
                                    .value = bytes,
                                    .address = address});
  };
  add(1, 0x2000, 100);
  add(2, 0x1000, 4000);
  add(1, 0x1000, 50);
  add(3, 0x0500, 7);  // page faults
  add(8, 0x0600, 9);  // between devices
  auto const rows = moved.by_address();
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].address == 0x1000);
  CHECK(rows[0].to_device == 50);
  CHECK(rows[0].to_host == 4000);
  CHECK(rows[0].ns == 4000);
  CHECK(rows[1].to_device == 100);
  auto const all = moved.totals();
  CHECK(all.to_device == 150);
  CHECK(all.to_host == 4000);
  CHECK(all.lowest == 0x1000);
  CHECK(all.highest == 0x2000);
}

TEST_CASE("a copy of a kind that does not exist counts as unknown") {
  memory_operations operations;
  copy_record broken;
  broken.kind = static_cast<copy_kind>(200);
  operations.add(broken);
  CHECK(operations.by_time()[0].operation == "[CUDA memcpy Unknown]");
}

TEST_CASE(
    "API functions lose the version suffix that CUPTI adds, but keep a suffix of their own name") {
  CHECK(without_version_suffix("cudaMemcpyAsync_v3020") == "cudaMemcpyAsync");
  CHECK(without_version_suffix("cudaLaunchKernelExC_v11060") == "cudaLaunchKernelExC");
  CHECK(without_version_suffix("cuMemcpyHtoD_v2") == "cuMemcpyHtoD_v2");
  CHECK(without_version_suffix("cudaFree") == "cudaFree");
  CHECK(without_version_suffix("_v3020") == "_v3020");
  CHECK(without_version_suffix("") == "");
}

TEST_CASE("calls of one function are summed over all versions") {
  auto const t =
      trace_of({call("cudaMalloc_v3020", 0_us, 5_us), call("cudaMalloc_v12000", 5_us, 7_us),
                call("cudaFree_v3020", 7_us, 8_us)});
  api_calls calls;
  CHECK(calls.empty());
  for (auto const& c : t.calls) calls.add(c);
  auto const rows = calls.rows(t.text());
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].name == "cudaMalloc");
  CHECK(rows[0].time.count == 2);
  CHECK(rows[0].time.total == 7000);
}
