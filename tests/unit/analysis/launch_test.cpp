// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/launch_summary.hpp"
#include "support/catch.hpp"
#include "support/trace_of.hpp"

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

namespace {

launch_times times_of(trace const& t, kernel_labels const& labels) {
  launch_times times(labels, t.text());
  for (auto const& c : t.calls) times.add(c);
  for (auto const& k : t.kernels) times.add(k);
  return times;
}

}  // namespace

TEST_CASE("a kernel is followed from its call through the queue to its end") {
  auto const t = trace_of({call("cudaLaunchKernel_v7000", 0_us, 4_us).correlated(1),
                           kernel("k", 10_us, 15_us).correlated(1)});
  kernel_labels const labels(t.shapes, t.text(), kernel_name_style::demangled);
  auto const rows = times_of(t, labels).rows();
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].api == "cudaLaunchKernel");
  CHECK(rows[0].os_thread == 4001);
  CHECK(rows[0].total.total == 15'000);
  CHECK(rows[0].api_time.total == 4'000);
  CHECK(rows[0].queued.total == 6'000);
  CHECK(rows[0].kernel.total == 5'000);
}

TEST_CASE("a kernel that starts before its call returns was not queued") {
  auto const t = trace_of({call("cudaLaunchKernel", 0_us, 20_us).correlated(1),
                           kernel("k", 10_us, 15_us).correlated(1)});
  kernel_labels const labels(t.shapes, t.text(), kernel_name_style::demangled);
  auto const rows = times_of(t, labels).rows();
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].queued.count == 0);
  CHECK(rows[0].total.total == 20'000);
}

TEST_CASE("a launch belongs to the runtime call, not to the driver call inside it") {
  auto const t = trace_of({call("cudaLaunchKernel", 0_us, 9_us).correlated(1),
                           call("cuLaunchKernel", 1_us, 8_us).correlated(1).of_driver(),
                           kernel("k", 10_us, 15_us).correlated(1)});
  kernel_labels const labels(t.shapes, t.text(), kernel_name_style::demangled);
  auto const rows = times_of(t, labels).rows();
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].api == "cudaLaunchKernel");
}

TEST_CASE("kernels find their calls in any order of ends") {
  std::vector<event> events;
  for (std::uint32_t i = 1; i <= 50; ++i) {
    auto const at = duration_ns{i * 10};
    events.push_back(call("cudaLaunchKernel", at, at + 2_ns).correlated(i));
    events.push_back(kernel("k", duration_ns{100'000 - i * 100}, duration_ns{100'000 - i * 100 + i})
                         .correlated(i));
  }
  events.push_back(kernel("lost", 200_us, 201_us).correlated(77));
  auto const t = trace_of(events);
  kernel_labels const labels(t.shapes, t.text(), kernel_name_style::demangled);
  auto times = times_of(t, labels);
  CHECK(times.without_call() == 1);
  CHECK(times.matched() == 50);
  auto const rows = times.rows();
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].kernel.total == 50 * 51 / 2);
  CHECK(rows[0].api_time.total == 100);
}

TEST_CASE("a kernel without its call is followed from the time of its launch") {
  auto t = trace_of({call("cudaLaunchKernel", 0_us, 4_us).correlated(1),
                     kernel("k", 10_us, 15_us).correlated(1),
                     kernel("k", 20_us, 25_us).correlated(2).launched_at(12_us),
                     kernel("k", 30_us, 35_us).correlated(3)});
  t.kernels[2].launched = {};
  kernel_labels const labels(t.shapes, t.text(), kernel_name_style::demangled);
  launch_times times(labels, t.text());
  times.add(t.calls[0]);
  for (auto const& k : t.kernels) times.add(k, 4001);
  CHECK(times.matched() == 1);
  CHECK(times.unrecorded() == 1);
  CHECK(times.without_call() == 1);
  auto const rows = times.rows();
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].api == "cudaLaunchKernel");
  CHECK(rows[1].api == "kernel launch (call not recorded)");
  CHECK(rows[1].total.total == 13'000);
  CHECK(rows[1].api_time.total == 0);
  CHECK(rows[1].queued.total == 8'000);
}

TEST_CASE("a kernel belongs to the call of its time even if an older call had the same id") {
  constexpr duration_ns day{86'400'000'000'000};
  auto const t = trace_of({call("cudaGetLastError", 0_us, 4_us).correlated(1),
                           call("cudaLaunchKernel", day, day + 9_us).correlated(1),
                           call("cuLaunchKernel", day + 1_us, day + 8_us).correlated(1).of_driver(),
                           kernel("k", day + 10_us, day + 15_us).correlated(1),
                           kernel("k", day + day, day + day + 5_us).correlated(1)});
  kernel_labels const labels(t.shapes, t.text(), kernel_name_style::demangled);
  auto times = times_of(t, labels);
  auto const rows = times.rows();
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].api == "cudaLaunchKernel");
  CHECK(rows[0].total.total == 15'000);
  CHECK(times.without_call() == 1);
}
