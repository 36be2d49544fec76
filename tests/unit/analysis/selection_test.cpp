// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/selection.hpp"

#include "support/catch.hpp"
#include "support/trace_of.hpp"

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

namespace {

/// A trace with its ranges, and how many of its records a selection keeps.
struct selected {
  explicit selected(trace made) : t(std::move(made)), tree(t.begins, t.ends, t.last), open(tree) {}

  selection inside(std::string_view filter) const {
    selection s;
    auto const choice = parse_range_expression(filter);
    REQUIRE(choice);
    REQUIRE(s.only(*choice, tree, open, launched, t.text()));
    return s;
  }
  std::size_t kernels(selection const& s) const {
    std::size_t kept = 0;
    for (auto const& k : t.kernels) kept += s.keeps(k) ? 1 : 0;
    return kept;
  }

  trace t;
  range_tree tree;
  open_ranges open;
  launch_ranges launched{tree, range_scope::process, static_cast<thread_index>(1)};
};

}  // namespace

TEST_CASE("a range filter is a name with an optional domain and an optional index") {
  CHECK(parse_range_expression("step")->name == "step");
  CHECK_FALSE(parse_range_expression("step")->index);
  auto const full = parse_range_expression("step@train/2");
  CHECK(full->name == "step");
  CHECK(full->domain == "train");
  CHECK(*full->index == 2);
  auto const escaped = parse_range_expression("a\\/b\\@c\\\\d");
  CHECK(escaped->name == "a/b@c\\d");
  for (auto const* wrong : {"", "@domain", "/1", "step/", "step/x", "step/-1", "step/1/2"})
    CHECK_FALSE(parse_range_expression(wrong));
}

TEST_CASE("a time filter is a start and an end, either of which may be left out") {
  auto const both = parse_time_stretch("10us/1.5ms", trace_start);
  CHECK(both->begin == trace_start + 10_us);
  CHECK(both->end == trace_start + 1500_us);
  CHECK(parse_time_stretch("/20", trace_start)->end == trace_start + 20_ns);
  CHECK(parse_time_stretch("1s/", trace_start)->begin == trace_start + 1000_ms);
  for (auto const* wrong :
       {"", "/", "10", "a/b", "2/1", "1m/2m", "-1/3", "nan/2", "1/inf", "1e300/", "1/2/3"})
    CHECK_FALSE(parse_time_stretch(wrong, trace_start));
}

TEST_CASE("without a filter everything is kept") {
  selected const s(trace_of({kernel("k", 0_us, 1_us)}));
  CHECK(selection{}.is_everything());
  CHECK(s.kernels(selection{}) == 1);
}

TEST_CASE("a time filter keeps what overlaps it") {
  selected const s(
      trace_of({kernel("a", 0_us, 10_us), kernel("b", 10_us, 20_us), kernel("c", 30_us, 40_us)}));
  selection wanted;
  wanted.only(*parse_time_stretch("5us/15us", trace_start));
  CHECK(s.kernels(wanted) == 2);
}

TEST_CASE("a range filter keeps what was launched inside the range, nested ranges included") {
  selected const s(
      trace_of({range("step", 0_us, 100_us), range("fwd", 10_us, 50_us), kernel("a", 20_us, 30_us),
                kernel("b", 60_us, 70_us), kernel("c", 120_us, 130_us),
                kernel("d", 150_us, 160_us).launched_at(90_us)}));
  CHECK(s.kernels(s.inside("step")) == 3);
  CHECK(s.kernels(s.inside("fwd")) == 1);
}

TEST_CASE("an index chooses one of the ranges of a name, counted from 0") {
  selected const s(
      trace_of({range("step", 0_us, 10_us), kernel("a", 1_us, 2_us), range("step", 20_us, 30_us),
                kernel("b", 21_us, 22_us), kernel("c", 23_us, 24_us)}));
  CHECK(s.kernels(s.inside("step")) == 3);
  CHECK(s.kernels(s.inside("step/0")) == 1);
  CHECK(s.kernels(s.inside("step/1")) == 2);
  selection wanted;
  auto const missing =
      wanted.only(*parse_range_expression("step/2"), s.tree, s.open, s.launched, s.t.text());
  REQUIRE_FALSE(missing);
  CHECK(missing.message().find("occurs 2 times") != std::string::npos);
}

TEST_CASE("a filter without a domain means the default domain, a star means any") {
  selected const s(
      trace_of({range("step", 0_us, 10_us).in_domain("lib"), kernel("a", 1_us, 2_us)}));
  CHECK(s.kernels(s.inside("step@lib")) == 1);
  CHECK(s.kernels(s.inside("step@*")) == 1);
  selection wanted;
  CHECK_FALSE(wanted.only(*parse_range_expression("step"), s.tree, s.open, s.launched, s.t.text()));
}

TEST_CASE("a range is also found by the name that reports show, and a near one is suggested") {
  selected const s(
      trace_of({range("cub::Sort", 0_us, 10_us).in_domain("CCCL"), kernel("a", 1_us, 2_us),
                range("a:b", 20_us, 30_us), kernel("b", 21_us, 22_us)}));
  CHECK(s.kernels(s.inside("CCCL:cub::Sort")) == 1);
  CHECK(s.kernels(s.inside("CCCL:cub::Sort/0")) == 1);
  CHECK(s.kernels(s.inside("a:b")) == 1);
  auto const refused = [&](char const* filter) {
    selection wanted;
    return wanted.only(*parse_range_expression(filter), s.tree, s.open, s.launched, s.t.text())
        .message();
  };
  CHECK(refused("cub::Sort").find("did you mean 'CCCL:cub::Sort'?") != std::string::npos);
  CHECK(refused("CCCL:cub::Sotr").find("did you mean 'CCCL:cub::Sort'?") != std::string::npos);
  CHECK(refused("cub::Sort@CCL").find("did you mean 'CCCL:cub::Sort'?") != std::string::npos);
  CHECK(refused("something else").find("did you mean") == std::string::npos);
}

TEST_CASE("a start/end range keeps the launches of all threads, but only its own range") {
  selected const s(
      trace_of({range("request", 0_us, 100_us).start_end(), range("inner", 10_us, 20_us),
                kernel("a", 12_us, 13_us).on_thread(2), kernel("b", 200_us, 210_us)}));
  auto const wanted = s.inside("request");
  CHECK(s.kernels(wanted) == 1);
  CHECK(wanted.keeps_range(s.tree, s.tree.index_of(s.t.id_of("request"))));
  CHECK_FALSE(wanted.keeps_range(s.tree, s.tree.index_of(s.t.id_of("inner"))));
}

TEST_CASE("API calls are kept when their thread was inside the range") {
  selected const s(
      trace_of({range("step", 10_us, 20_us), range("step", 40_us, 50_us), call("f", 12_us, 13_us),
                call("f", 30_us, 31_us), call("f", 45_us, 46_us).on_thread(2)}));
  auto const wanted = s.inside("step");
  std::vector<bool> kept;
  for (auto const& c : s.t.calls)
    kept.push_back(wanted.keeps(c, static_cast<thread_index>(c.os_thread - 4000)));
  CHECK(kept == std::vector{true, false, false});
}

TEST_CASE("a range filter leaves out work without a launching thread") {
  selected const s(trace_of({range("step", 0_us, 10_us)}));
  CHECK(selection{}.keeps_unlaunched(trace_start, trace_start + 1_us));
  CHECK_FALSE(s.inside("step").keeps_unlaunched(trace_start, trace_start + 1_us));
}

TEST_CASE("a range filter keeps launches of threads without ranges inside the waiting range") {
  selected const s(
      trace_of({range("step", 0_us, 100_us), range("backward", 40_us, 80_us),
                kernel("k", 50_us, 60_us).on_thread(2), kernel("k", 90_us, 95_us).on_thread(2)}));
  CHECK(s.kernels(s.inside("backward")) == 1);
  CHECK(s.kernels(s.inside("step")) == 2);
}
