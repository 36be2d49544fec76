// SPDX-License-Identifier: Apache-2.0
// Ranges whose time is the CPU's, and kernels of which it is not known what holds them.
#include "host/compare/comparison.hpp"
#include "host/compare/gate.hpp"
#include "support/catch.hpp"
#include "unit/compare/made_runs.hpp"

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::host::compare;

namespace {

/// As 18 runs of one loop of launches had it: times of the CPU differ by 14 %, those of kernels do
/// not.
made_program const launching{
    .kernels = 3, .steps = 100, .run_drift = 0.0003, .kernel_drift = 0.0003, .host_drift = 0.14};

difference const& line_of(comparison const& of, line_kind kind) {
  for (auto const& line : of.lines)
    if (line.kind == kind) return line;
  FAIL("no such line");
  return of.lines.front();
}

bool fails(std::string_view gate, std::vector<run_digest> const& base,
           std::vector<run_digest> const& fresh) {
  auto const clauses = parse_gate(gate);
  REQUIRE(clauses);
  for (auto const& answer : judge_gate(*clauses, compare_runs(base, fresh), fresh))
    if (answer.answer == gate_answer::failed) {
      UNSCOPED_INFO(answer.line);
      return true;
    }
  return false;
}

constexpr auto any_worse = "step>0%,gpu>0%,range:forward>0%,kernel:.*>0%";

/// Of so many comparisons of one program with itself, each way round.
unsigned false_alarms(made_program const& program, std::string_view gate, unsigned tries,
                      unsigned runs) {
  unsigned alarms = 0;
  for (unsigned i = 0; i < tries; ++i) {
    auto const one = made_runs(program, 2 * i + 1, runs);
    auto const other = made_runs(program, 2 * i + 2, runs);
    alarms += fails(gate, one, other) || fails(gate, other, one);
  }
  return alarms;
}

}  // namespace

TEST_CASE("one capture a side: CPU time of the same program is not called worse", "[many trials]") {
  CHECK(false_alarms(launching, any_worse, 100, 1) <= 1);
}

TEST_CASE("five captures a side: CPU time of the same program is not called worse",
          "[many trials]") {
  CHECK(false_alarms(launching, any_worse, 100, 5) <= 3);
}

TEST_CASE("a gate of many clauses fails by chance as rarely as one clause", "[many trials]") {
  made_program const program{
      .kernels = 20, .steps = 40, .run_drift = 0, .kernel_drift = 0.02, .host_drift = 0.01};
  std::string gate;
  for (int i = 0; i < program.kernels; ++i) {
    gate += i > 0 ? "," : "";
    gate += "kernel:kernel_" + std::to_string(i) + "$>0%";
  }
  CHECK(false_alarms(program, gate, 100, 5) <= 5);
}

TEST_CASE("five captures a side: a kernel slowed by 3 % fails its clause", "[many trials]") {
  auto slowed = launching;
  slowed.kernels = 4;
  auto const base = slowed;
  slowed.slowed = 1.03;
  unsigned found = 0;
  for (unsigned i = 0; i < 40; ++i)
    found +=
        fails("kernel:kernel_3>1%", made_runs(base, 2 * i + 1, 5), made_runs(slowed, 2 * i + 2, 5));
  CHECK(found >= 38);
}

TEST_CASE("a gate of 0 % passes differences that are too small to matter") {
  made_program const exact{
      .kernels = 3, .steps = 100, .run_drift = 0, .kernel_drift = 0.00001, .host_drift = 0.00001};
  auto slower = exact;
  slower.clock = 1 / 1.003;
  auto const base = made_runs(exact, 1, 20);
  CHECK_FALSE(fails("gpu>0%", base, made_runs(slower, 2, 20)));
  slower.clock = 1 / 1.02;
  CHECK(fails("gpu>0%", base, made_runs(slower, 2, 20)));
}

TEST_CASE("time of a range that ends before its kernels is not explained by their clock") {
  made_program program{.run_drift = 0.002, .knows_clock = true};
  auto slow_clock = program;
  slow_clock.clock = 0.94;
  auto const compared = [&](double kernels_over_step) {
    std::vector<run_digest> sides[] = {made_runs(program, 1, 1), made_runs(slow_clock, 2, 1)};
    for (auto& side : sides) {
      auto& of = side.front().step->of;
      of.gpu = {};
      for (auto const ns : of.durations.blocks()) of.gpu.add(kernels_over_step * ns);
      of.gpu.finish();
      of.durations = {};
      for (auto const ns : of.gpu.blocks()) of.durations.add(ns / kernels_over_step);
      of.durations.finish();
    }
    return compare_runs(sides[0], sides[1]);
  };
  auto const bound = compared(0.95), ahead = compared(5);
  CHECK(line_of(bound, line_kind::step).by_clock);
  CHECK_FALSE(line_of(ahead, line_kind::step).by_clock);
  CHECK(line_of(ahead, line_kind::step).of.left.floor > 0.4);
  CHECK(line_of(bound, line_kind::step).of.left.floor < 0.08);
}

TEST_CASE("time that DRAM does not bound follows the clock, whatever else bounds it") {
  made_program program{.run_drift = 0.002, .knows_clock = true};
  auto const compared = [&](std::optional<double> dram_share) {
    auto base = made_runs(program, 1, 1), fresh = made_runs(program, 2, 1);
    for (auto* side : {&base, &fresh})
      for (auto& [_, line] : side->front().kernels) {
        line.bound = {};
        line.dram_share = dram_share;
      }
    return line_of(compare_runs(base, fresh), line_kind::kernel).by_clock.has_value();
  };
  CHECK(compared(0.05));
  CHECK_FALSE(compared(0.6));
  CHECK_FALSE(compared(std::nullopt));
}

TEST_CASE(
    "what DRAM bounds on one side only has no part of the clock, and does not disturb others") {
  made_program const program{.run_drift = 0.002, .knows_clock = true};
  auto base = made_runs(program, 1, 1), fresh = made_runs(program, 2, 1);
  base.front().kernels.at(kernel_named("kernel_6")).bound.what = bound_by::kind::dram;
  auto const compared = compare_runs(base, fresh);
  for (auto const& line : compared.lines) {
    if (line.kind != line_kind::kernel) continue;
    CAPTURE(line.name);
    CHECK(line.by_clock.has_value() == (line.name != "kernel_6"));
    CHECK(line.is != verdict::worse);
    CHECK(line.is != verdict::better);
  }
  CHECK(std::abs(compared.clock.value_or(1)) < 0.01);
}
