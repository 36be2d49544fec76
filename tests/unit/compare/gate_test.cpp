// SPDX-License-Identifier: Apache-2.0
#include "host/compare/gate.hpp"

#include "support/catch.hpp"
#include "unit/compare/made_runs.hpp"

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::host::compare;

namespace {

std::string why_refused(std::string_view text) {
  auto const parsed = parse_gate(text);
  return parsed ? "" : parsed.message();
}

gate_result asked(std::string_view text, std::vector<run_digest> const& base,
                  std::vector<run_digest> const& fresh) {
  auto const clauses = parse_gate(text);
  REQUIRE(clauses);
  REQUIRE(clauses->size() == 1);
  return judge_gate(*clauses, compare_runs(base, fresh), fresh).front();
}

made_program const steady{.run_drift = 0, .kernel_drift = 0.001, .host_drift = 0.001};

made_program slower(double by) {
  auto of = steady;
  of.clock = 1 / by;  // all kernels, and nobody knows the clock
  return of;
}

bool says(gate_result const& result, std::string_view what) {
  INFO(result.line);
  auto const found = result.line.find(what) != std::string::npos;
  CHECK(found);
  return found;
}

}  // namespace

TEST_CASE("clauses are separated by the limits that end them") {
  auto const clauses = parse_gate("step>3%, kernel:gemm<int, 4>>5%,lost>0,bucket:idle>2.5%");
  REQUIRE(clauses);
  REQUIRE(clauses->size() == 4);
  CHECK((*clauses)[0].kind == clause_kind::step);
  CHECK((*clauses)[0].limit == 0.03);
  CHECK((*clauses)[1].name == "gemm<int, 4>");
  CHECK((*clauses)[1].limit == 0.05);
  CHECK((*clauses)[2].limit == 0);
  CHECK((*clauses)[3].name == "idle");
}

TEST_CASE("an invalid gate is refused with the clause and the reason") {
  CHECK(why_refused("stp>3%").find("did you mean step?") != std::string::npos);
  CHECK(why_refused("step").find("write step>3%") != std::string::npos);
  CHECK(why_refused("step>3").find("the limit is a percentage") != std::string::npos);
  CHECK(why_refused("lost>3%").find("number of records") != std::string::npos);
  CHECK(why_refused("step>much").find("'much' is no number") != std::string::npos);
  CHECK(why_refused("range:>3%").find("write range:NAME>3%") != std::string::npos);
  CHECK(why_refused("step:x>3%").find("step takes no name") != std::string::npos);
  CHECK(why_refused("kernel:a(>3%").find("not a regular expression") != std::string::npos);
  CHECK(why_refused("step>-3%").find("is no number") != std::string::npos);
  CHECK(why_refused(" ").find("no clause") != std::string::npos);
  CHECK(why_refused("step>3%,,lost>0").find("did you mean lost?") != std::string::npos);
}

TEST_CASE("one capture a side: far above the limit fails, near it is not decidable") {
  auto const base = made_runs(steady, 1, 1);
  auto const far = asked("gpu>3%", base, made_runs(slower(1.15), 2, 1));
  CHECK(far.answer == gate_answer::failed);
  auto const near = asked("gpu>3%", base, made_runs(slower(1.05), 2, 1));
  CHECK(near.answer == gate_answer::undecided);
  says(near, "captures a side would do");
  auto const wide = asked("gpu>10%", base, made_runs(slower(1.01), 2, 1));
  CHECK(wide.answer == gate_answer::passed);
  CHECK(asked("gpu>3%", base, made_runs(slower(0.8), 2, 1)).answer == gate_answer::passed);
}

TEST_CASE("the number of captures that a gate asks for decides it") {
  auto const base = made_runs(steady, 1, 4), fresh = made_runs(slower(1.05), 2, 4);
  CHECK(asked("gpu>3%", base, fresh).answer == gate_answer::failed);
  CHECK(asked("gpu>6%", base, fresh).answer == gate_answer::passed);
  auto const same = asked("step>3%", base, made_runs(steady, 3, 4));
  CHECK(same.answer == gate_answer::passed);
  says(same, "Student's t over runs");
}

TEST_CASE("one failing kernel among those that match fails the clause") {
  auto slowed = steady;
  slowed.slowed = 1.08;
  auto const base = made_runs(steady, 1, 3), fresh = made_runs(slowed, 2, 3);
  auto const all = asked("kernel:kernel_.*>5%", base, fresh);
  CHECK(all.answer == gate_answer::failed);
  says(all, "kernel_3 +8");
  says(all, "20 lines looked at");
  CHECK(asked("kernel:kernel_1>5%", base, fresh).answer == gate_answer::passed);
}

TEST_CASE("a missing item is not decidable, and the reason is given") {
  auto const base = made_runs(steady, 1, 1);
  says(asked("range:forwrad>2%", base, base), "did you mean forward?");
  says(asked("kernel:conv>2%", base, base), "no kernel in these captures");
  says(asked("bucket:idle>2%", base, base), "no such bucket");
  auto without_steps = base;
  without_steps.front().step.reset();
  says(asked("step>2%", without_steps, base), "--step NAME");
  CHECK(asked("bucket:idle>2%", base, base).answer == gate_answer::undecided);
}

TEST_CASE("one capture a side does not tell how far the lengths of two runs lie apart") {
  auto base = made_runs(steady, 1, 4), fresh = made_runs(steady, 2, 4);
  for (auto* side : {&base, &fresh})
    for (std::size_t i = 0; i < side->size(); ++i) (*side)[i].window_ns = 1'000'000 + 1000 * i;
  CHECK(asked("run>3%", base, fresh).answer == gate_answer::passed);
  for (auto& run : fresh) run.window_ns += 450'000;
  CHECK(asked("run>3%", base, fresh).answer == gate_answer::failed);
  base.resize(1);
  fresh.resize(1);
  CHECK(asked("run>3%", base, fresh).answer == gate_answer::undecided);
}

TEST_CASE("a bucket of the time ledger is compared as a share of the window") {
  auto base = made_runs(steady, 1, 1), fresh = base;
  fresh.front().path = "changed";  // else it is the same capture
  base.front().window_ns = fresh.front().window_ns = 1000;
  base.front().buckets["idle"] = 100;
  fresh.front().buckets["idle"] = 400;
  CHECK(asked("bucket:idle>2%", base, fresh).answer == gate_answer::failed);
  CHECK(asked("bucket:idle>2%", fresh, base).answer == gate_answer::passed);
}

TEST_CASE("a finding that no capture has passes, if the rules were run") {
  auto base = made_runs(steady, 1, 1), fresh = base;
  fresh.front().path = "changed";  // else it is the same capture
  CHECK(asked("finding:sync>1%", base, fresh).answer == gate_answer::undecided);
  base.front().findings.emplace();
  fresh.front().findings.emplace();
  CHECK(asked("finding:sync>1%", base, fresh).answer == gate_answer::passed);
  (*fresh.front().findings)["sync"] = 0.3;
  CHECK(asked("finding:sync>1%", base, fresh).answer == gate_answer::failed);
}

TEST_CASE("losses are counted, not estimated") {
  auto const base = made_runs(steady, 1, 1);
  auto fresh = base;
  fresh.front().lost = 5;
  CHECK(asked("lost>0", base, fresh).answer == gate_answer::failed);
  CHECK(asked("lost>5", base, fresh).answer == gate_answer::passed);
}

TEST_CASE("a gate names lines by a part of their text, modules by their path") {
  auto const with_lines = [](made_program const& program, unsigned seed, bool modules) {
    auto runs = made_runs(program, seed, 3);
    for (auto& run : runs) {
      run.are_modules = modules;
      auto const series = [&](char const* kernel) {
        return run.kernels.at(kernel_named(kernel)).durations;
      };
      run.source_lines.emplace(modules ? "h.*.mlp: Mlp" : "train.py: loss.backward()",
                               series("kernel_3"));
      run.source_lines.emplace(modules ? "h.*.mlp.c_fc: Linear" : "train.py: y = model(x, n > 5)",
                               series("kernel_4"));
    }
    return runs;
  };
  auto slow = steady;
  slow.slowed = 1.3;
  auto const is = [&](std::string_view gate, bool modules) {
    auto const base = with_lines(steady, 1, modules), fresh = with_lines(slow, 2, modules);
    return asked(gate, base, fresh);
  };
  CHECK(is("line:backward()>3%", false).answer == gate_answer::failed);
  CHECK(is("line:train.py>3%", false).answer == gate_answer::failed);
  CHECK(is("line:model(x, n > 5)>3%", false).answer == gate_answer::passed);
  CHECK(is("line:forward()>3%", false).answer == gate_answer::undecided);
  CHECK(is("module:h.*.mlp>3%", true).answer == gate_answer::failed);
  CHECK(is("module:h.*.mlp.c_fc: Linear>3%", true).answer == gate_answer::passed);
  CHECK(says(is("module:h.*.mlp: Mpl>3%", true), "did you mean h.*.mlp: Mlp?"));
  CHECK(why_refused("line>3%").find("write line:NAME>3%") != std::string::npos);
}
