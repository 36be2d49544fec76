// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/gpu_trace.hpp"

#include "support/catch.hpp"
#include "support/trace_of.hpp"

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

TEST_CASE("operations of all kinds come out in order of their start") {
  auto const t =
      trace_of({kernel("a", 30_us, 31_us), kernel("b", 10_us, 11_us), fill(8, 20_us, 21_us),
                copy(copy_kind::host_to_device, 64, 5_us, 6_us), graph(25_us, 40_us)});
  gpu_trace operations;
  for (auto const& k : t.kernels) operations.add(k);
  for (auto const& c : t.copies) operations.add(c);
  for (auto const& f : t.fills) operations.add(f);
  for (auto const& g : t.graphs) operations.add(g);
  std::vector<gpu_work> order;
  operations.in_order([&](gpu_operation const& o) { order.push_back(o.work); });
  CHECK(order == std::vector{gpu_work::copy, gpu_work::kernel, gpu_work::fill, gpu_work::graph,
                             gpu_work::kernel});
}

TEST_CASE("a trace longer than one chunk keeps every operation") {
  gpu_trace operations;
  kernel_record k;
  for (std::uint64_t i = 0; i < 150'000; ++i) {
    k.start = {1'000'000 - i};
    k.correlation = static_cast<correlation_id>(i);
    operations.add(k);
  }
  std::uint64_t seen = 0, last = 0;
  bool sorted = true;
  operations.in_order([&](gpu_operation const& o) {
    sorted = sorted && o.start >= last;
    last = o.start;
    ++seen;
  });
  CHECK(seen == 150'000);
  CHECK(sorted);
}
