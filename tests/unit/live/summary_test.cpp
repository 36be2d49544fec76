// SPDX-License-Identifier: Apache-2.0
#include "guest/live/summary.hpp"

#include "base/readable.hpp"
#include "guest/counters/sampling_budget.hpp"
#include "support/catch.hpp"
#include "support/golden.hpp"
#include "support/trace_of.hpp"

#include <initializer_list>
#include <string>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;
using text::overview;

namespace {

std::vector<overview::gpu> gpus(std::initializer_list<char const*> names) {
  std::vector<overview::gpu> made;
  for (auto const* const name : names) made.emplace_back().name = name;
  return made;
}

overview h200_run() {
  overview about;
  about.program = "./train --steps 2";
  about.devices = gpus({"NVIDIA H200", "NVIDIA H200"});
  about.seconds = 1.25;
  about.windows = 1;
  about.records = {{"kernels", 1'234'567}, {"copies", 0}, {"NVTX ranges", 3}};
  return about;
}

}  // namespace

TEST_CASE("the first lines say what was captured, what was lost, what it cost") {
  auto about = h200_run();
  add_counter(about, "lost.kernels", 0);
  add_counter(about, "cost.start_ns", 9'800'000);
  add_counter(about, "memory.buffers_bytes", 33'554'432);
  about.launches = 2000;
  auto const lines = overview_lines(about);
  REQUIRE(lines.size() == 3);
  CHECK(
      lines[0] ==
      "captured: ./train --steps 2 on 2 x NVIDIA H200, 1.250 s, 1,234,567 kernels, 3 NVTX ranges");
  CHECK(lines[1] == "lost: nothing");
  CHECK(lines[2] ==
        "cost: the program waited 9.8 ms for this profiler, 0.8 % of the run; tracing made "
        "each of 2,000 launches 523 ns to 2.5 us longer (measured on other machines), 1.046 ms to "
        "5 ms in all; the profiler used 33.6 MB of memory");
}

TEST_CASE("the cost is told apart by what was paid once and what counters took later") {
  auto about = h200_run();
  about.seconds = 10;
  about.launches = 50'000;
  about.ns_a_launch = 3400;
  add_counter(about, "cost.start_ns", 30'000'000);
  add_counter(about, "cost.code_ns", 20'000'000);
  add_counter(about, "cost.counters_ns", 800'000'000);
  add_counter(about, "cost.sampling_ns", 300'000'000);
  add_counter(about, "cost.once_allowed_ns", 250'000'000);
  add_counter(about, "cost.drain_cpu_ns", 11'000'000);
  add_counter(about, "cost.counter_cpu_ns", 400'000'000);
  // 250 of 500 ms for launches and 100 of 300 ms for samples were allowed once.
  CHECK(cost_line(about) ==
        "cost: the program waited 850 ms for this profiler, 8.5 % of the run (400 ms once, 450 ms "
        "for counters later, which --overhead-budget limits); what it lost to counters cannot be "
        "told in a run of 10 s; tracing made each of 50,000 "
        "launches about 3.4 us longer, 170 ms in all; threads of the profiler used 411 ms of CPU "
        "(4.1 % of a "
        "core)");
  about.all_launches_read = true;
  CHECK(cost_line(about).find("(50 ms once, 800 ms for counters);") != std::string::npos);
  CHECK(text::sampling_once_ns == guest::sampling_budget::sampling_once_ns);
}

TEST_CASE("what the program lost to counters stands beside what was counted") {
  auto const line = [](std::uint64_t lost_ms, std::uint64_t error_ms, std::uint64_t counted_ms) {
    auto about = h200_run();
    add_counter(about, "cost.counters_ns", counted_ms * 1'000'000);
    add_counter(about, "cost.counters_lost_ns", lost_ms * 1'000'000);
    add_counter(about, "cost.counters_lost_error_ns", error_ms * 1'000'000);
    return cost_line(about);
  };
  CHECK(line(120, 30, 100)
            .find("; by the rate of its launches it lost 120 ms +- 30 ms while "
                  "counters were taken") != std::string::npos);
  CHECK(line(300, 30, 100).find(" taken, not the 100 ms counted for them") != std::string::npos);
  CHECK(line(10, 80, 100).find(" taken, too inexact to confirm the 100 ms counted for them") !=
        std::string::npos);
  auto about = h200_run();
  add_counter(about, "cost.counters_ns", 100'000'000);
  CHECK(cost_line(about).find("by the rate") == std::string::npos);
  add_counter(about, "cost.once_allowed_ns", 250'000'000);
  about.seconds = 4;
  CHECK(cost_line(about).find("; what it lost to counters cannot be told in a run of 4 s") !=
        std::string::npos);
  auto const inexact = line(150, 200, 100);
  CHECK(inexact.find(" s: by the rate of its launches 150 ms +- 200 ms") != std::string::npos);
  auto const useless = line(150, 400, 100);  // a third of the run
  CHECK(useless.find("what it lost to counters cannot be told") != std::string::npos);
  CHECK(useless.find("by the rate") == std::string::npos);
  CHECK(cost_line(h200_run()).find("lost to counters") == std::string::npos);
}

TEST_CASE("a report says if the run was too short to read launches") {
  auto about = h200_run();
  add_counter(about, "note.readings_begin_after_s", 0);
  CHECK(overview_lines(about).size() == 3);
  add_counter(about, "note.readings_begin_after_s", 20);
  REQUIRE(overview_lines(about).size() == 4);
  CHECK(overview_lines(about)[3] ==
        "no launch was read: with this --overhead-budget, that begins after 20 s. --set explain "
        "reads from the start");
}

TEST_CASE("a report says if the run was too short to be sampled") {
  auto about = h200_run();
  add_counter(about, "note.sampling_begins_after_ms", 0);
  CHECK(overview_lines(about).size() == 3);
  add_counter(about, "note.sampling_begins_after_ms", 500);
  REQUIRE(overview_lines(about).size() == 4);
  CHECK(
      overview_lines(about)[3] ==
      "nothing was sampled: with this --overhead-budget, that begins after 500 ms of steady work. "
      "--set explain begins at once");
}

TEST_CASE("a cost far below the run's length is no cost of zero") {
  auto about = h200_run();
  add_counter(about, "cost.start_ns", 100'000);
  CHECK(cost_line(about).find(", less than 0.1 % of the run") != std::string::npos);
  about.seconds = 0;
  CHECK(cost_line(about).find("of the run") == std::string::npos);
}

TEST_CASE("losses are named with their number") {
  auto about = h200_run();
  add_counter(about, "lost.kernels_without_time", 12);
  add_counter(about, "lost.ranges", 1500);
  add_counter(about, "lost.launches", 1);
  add_counter(about, "lost.ranges_too_deep", 3);
  add_counter(about, "lost.buffers_refused", 1);
  CHECK(
      overview_lines(about)[1] ==
      "lost: 12 kernels without time, 1,500 ranges, 1 launch, 3 ranges too deep, 1 buffer refused. "
      "To lose less: a greater --buffer-limit-mib");
}

TEST_CASE("more memory is advised only if it helps") {
  auto const lost_line = [](std::vector<std::string_view> const& counters) {
    text::overview about;
    for (auto const counter : counters) add_counter(about, counter, 1);
    return overview_lines(about)[1];
  };
  auto const advised = [&](std::vector<std::string_view> const& counters) {
    return lost_line(counters).find("--buffer-limit-mib") != std::string::npos;
  };
  CHECK_FALSE(advised({"lost.ranges", "lost.launch_notes", "lost.calls"}));
  CHECK_FALSE(advised({"lost.ranges_too_deep"}));
  CHECK(advised({"lost.ranges", "note.rings_without_memory"}));
  CHECK(advised({"lost.threads"}));
  CHECK(advised({"lost.buffers_refused"}));
}

TEST_CASE("grouped range names are a remark, and without grouping there is none") {
  overview about;
  add_counter(about, "note.names_grouped", 0);
  CHECK(about.remarks.empty());
  add_counter(about, "note.names_grouped", 12'345);
  CHECK(overview_lines(about).back() ==
        "the names of 12,345 ranges stand for others too, as 'request *': there were too many to "
        "keep");
}

TEST_CASE("the first line names the GPUs that have worked, and says how many there are") {
  auto about = h200_run();
  about.devices = gpus({"NVIDIA H200", "NVIDIA H200", "NVIDIA H100"});
  auto const named = [&](std::string const& gpus) {
    return overview_lines(about)[0].find("--steps 2 on " + gpus + ", 1.250 s") != std::string::npos;
  };
  CHECK(named("2 x NVIDIA H200, NVIDIA H100"));
  about.devices[0].has_worked = false;
  CHECK(named("NVIDIA H200, NVIDIA H100 (of 3 GPUs)"));
  about.devices[1].has_worked = false;
  CHECK(named("NVIDIA H100 (of 3 GPUs)"));
  about.devices[2].has_worked = false;  // a program that has used no GPU
  CHECK(named("2 x NVIDIA H200, NVIDIA H100"));
}

TEST_CASE("a capture without facts about itself says so") {
  auto const lines = text::overview_lines({});
  CHECK(lines[0] == "captured: a program, no records");
  CHECK(lines[2] == "cost: not recorded");
}

TEST_CASE("times and amounts of memory have a suitable unit") {
  CHECK(readable_time(999) == "999 ns");
  CHECK(readable_time(12'345) == "12.3 us");
  CHECK(readable_time(12'345'678) == "12.35 ms");
  CHECK(readable_time(12'345'678'901) == "12.346 s");
  CHECK(readable_bytes(12) == "12 B");
  CHECK(readable_bytes(12'300'000) == "12.3 MB");
  CHECK(readable_count(0) == "0");
  CHECK(readable_count(1'000) == "1,000");
}

TEST_CASE("the summary at exit lists top kernels, copies and ranges") {
  std::vector<event> events = {range("step", 0_us, 500_us), range("load", 0_us, 20_us),
                               copy(copy_kind::host_to_device, 64'000'000, 10_us, 40_us),
                               fill(4096, 50_us, 51_us)};
  for (int i = 0; i < 12; ++i) {
    auto const at = 100_us + duration_ns{i * 10'000};
    events.push_back(kernel(std::string("_Z5gemm") + static_cast<char>('a' + i) + "Pf", at,
                            at + duration_ns{1000 + i * 500}));
  }
  events.push_back(kernel("_Z5gemmlPf", 400_us, 405_us));
  auto const t = trace_of(events);
  live_totals totals(t.text());
  for (auto const& shape : t.shapes) totals.add(shape);
  for (auto const& begin : t.begins) totals.add(begin);
  for (auto const& end : t.ends) totals.add(end);
  totals.add(t.kernels);
  for (auto const& c : t.copies) totals.add(c);
  for (auto const& f : t.fills) totals.add(f);
  check_golden("summary_at_exit.txt", summary_text(h200_run(), totals.snapshot()));
}

TEST_CASE("a summary of nothing says that nothing was recorded") {
  auto const text = summary_text({}, {});
  CHECK(text.find("no kernel, copy or NVTX range was recorded") != std::string::npos);
}

TEST_CASE("the summary mentions whole graphs, which its kernels do not include") {
  live_snapshot totals;
  totals.graph_count = 7;
  totals.graph_ns = 3'000'000;
  auto const text = summary_text({}, totals);
  CHECK(text.find("whole graphs: 7 launches, 3 ms on the GPU, not split into kernels") !=
        std::string::npos);
}

TEST_CASE("kernels whose grid was not recorded are reported as a loss and explained") {
  text::overview about;
  add_counter(about, "lost.kernel_grids", 0);
  CHECK(overview_lines(about).size() == 3);
  add_counter(about, "lost.kernel_grids", 268'928);
  auto const lines = overview_lines(about);
  REQUIRE(lines.size() == 4);
  CHECK(lines[1] == "lost: 268,928 kernel grids");
  CHECK(lines[3] ==
        "grid not recorded: 268,928 kernels have no grid and block, because more different launch "
        "shapes came than can be kept");
}
