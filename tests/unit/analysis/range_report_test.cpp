// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/range_summary.hpp"
#include "support/catch.hpp"
#include "support/trace_of.hpp"

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

namespace {

struct range_reports {
  explicit range_reports(trace made)
      : t(std::move(made)),
        tree(t.begins, t.ends, t.last),
        open(tree),
        labels(t.shapes, t.text(), kernel_name_style::demangled),
        kernels(tree, open, labels),
        projection(tree, open) {
    for (auto const& k : t.kernels) kernels.add(k), projection.add(k);
    for (auto const& c : t.copies) projection.add(c);
    for (auto const& g : t.graphs) projection.add(g);
    kernel_rows =
        kernels.rows([&](range_key const& key) { return std::string(t.names.text(key.name)); });
    projected = projection.rows();
  }
  range_kernel_row line(std::string_view range, std::string_view kernel) const {
    for (auto const& row : kernel_rows)
      if (t.names.text(row.range.name) == range && labels.text(row.label) == kernel) return row;
    return {};
  }
  projection_row projection_of(std::string_view range) const {
    for (auto const& row : projected)
      if (t.names.text(row.key.name) == range) return row;
    return {};
  }

  trace t;
  range_tree tree;
  open_ranges open;
  kernel_labels labels;
  range_kernels kernels;
  range_projection projection;
  std::vector<range_kernel_row> kernel_rows;
  std::vector<projection_row> projected;
};

}  // namespace

TEST_CASE("a kernel launched inside two nested ranges counts once in each") {
  range_reports const r(trace_of({range("step", 0_us, 100_us), range("fwd", 10_us, 50_us),
                                  kernel("gemm", 20_us, 40_us), kernel("gemm", 60_us, 65_us)}));
  CHECK(r.line("fwd", "gemm").time.total == 20'000);
  CHECK(r.line("step", "gemm").time.total == 25'000);
  CHECK(r.line("step", "gemm").time.count == 2);
  CHECK(r.line("step", "gemm").range_instances == 1);
}

TEST_CASE("launches outside any range are listed with their threads") {
  auto const t = trace_of({range("step", 0_us, 50_us), kernel("in", 10_us, 20_us),
                           kernel("out", 60_us, 70_us), kernel("out", 60_us, 80_us).on_thread(2),
                           range("request", 100_us, 200_us).start_end(),
                           kernel("in", 110_us, 120_us).on_thread(2)});
  range_tree const tree(t.begins, t.ends, t.last);
  open_ranges const open(tree);
  outside_ranges outside(tree, open);
  for (auto const& k : t.kernels) outside.add(k);
  CHECK(outside.kernels() == 2);
  CHECK(outside.share() == Approx(30. / 50));
  CHECK(outside.threads() ==
        std::vector{static_cast<thread_index>(2), static_cast<thread_index>(1)});
}

TEST_CASE("a kernel counts by its launch time, not by its run time") {
  range_reports const r(trace_of({range("launching", 0_us, 10_us), range("waiting", 10_us, 100_us),
                                  kernel("k", 20_us, 90_us).launched_at(5_us)}));
  CHECK(r.line("launching", "k").time.count == 1);
  CHECK(r.line("waiting", "k").time.count == 0);
}

TEST_CASE("a kernel inside nested ranges of one name counts once, with two range instances") {
  range_reports const r(
      trace_of({range("f", 0_us, 100_us), range("f", 10_us, 50_us), kernel("k", 20_us, 30_us)}));
  CHECK(r.line("f", "k").time.count == 1);
  CHECK(r.line("f", "k").time.total == 10'000);
  CHECK(r.line("f", "k").range_instances == 2);
}

TEST_CASE("each range with a kernel counts once, however often it launches it") {
  range_reports const r(
      trace_of({range("step", 0_us, 10_us), kernel("a", 1_us, 2_us), kernel("b", 2_us, 3_us),
                kernel("a", 3_us, 4_us), range("step", 20_us, 30_us), kernel("a", 21_us, 22_us),
                range("step", 40_us, 50_us)}));
  CHECK(r.line("step", "a").range_instances == 2);
  CHECK(r.line("step", "a").time.count == 3);
  CHECK(r.line("step", "b").range_instances == 1);
}

TEST_CASE(
    "push/pop ranges hold launches of their own thread, start/end ranges those of all threads") {
  range_reports const r(
      trace_of({range("mine", 0_us, 100_us), range("request", 0_us, 100_us).start_end(),
                kernel("k", 10_us, 20_us).on_thread(2)}));
  CHECK(r.line("mine", "k").time.count == 0);
  CHECK(r.line("request", "k").time.count == 1);
  CHECK(r.line("request", "k").thread == static_cast<thread_index>(1));
}

TEST_CASE("equal ranges on two threads are two lines") {
  range_reports const r(
      trace_of({range("work", 0_us, 10_us), kernel("k", 1_us, 2_us),
                range("work", 0_us, 10_us).on_thread(2), kernel("k", 2_us, 5_us).on_thread(2)}));
  REQUIRE(r.kernel_rows.size() == 2);
  CHECK(r.kernel_rows[0].thread == static_cast<thread_index>(1));
  CHECK(r.kernel_rows[1].time.total == 3000);
}

TEST_CASE("lines are sorted by range name, then by total time") {
  range_reports const r(
      trace_of({range("b", 0_us, 10_us), kernel("x", 1_us, 2_us), kernel("y", 3_us, 9_us),
                range("a", 20_us, 30_us), kernel("x", 21_us, 22_us)}));
  REQUIRE(r.kernel_rows.size() == 3);
  CHECK(r.t.names.text(r.kernel_rows[0].range.name) == "a");
  CHECK(r.labels.text(r.kernel_rows[1].label) == "y");
}

TEST_CASE("a range is projected from the first start to the last end of its GPU work") {
  range_reports const r(
      trace_of({range("step", 0_us, 10_us), kernel("a", 20_us, 30_us).launched_at(1_us),
                copy(copy_kind::device_to_host, 8, 50_us, 60_us).launched_at(2_us)}));
  auto const step = r.projection_of("step");
  CHECK(step.projected.total == 40'000);
  CHECK(step.range_time == 10'000);
  CHECK(step.operations == 2);
}

TEST_CASE("the projection of a range contains the projections of its inner ranges") {
  range_reports const r(trace_of({range("step", 0_us, 100_us), range("fwd", 10_us, 40_us),
                                  kernel("a", 20_us, 30_us), range("bwd", 50_us, 90_us),
                                  kernel("b", 60_us, 80_us), range("idle", 91_us, 92_us)}));
  CHECK(r.projection_of("step").projected.total == 60'000);
  CHECK(r.projection_of("step").operations == 2);
  CHECK(r.projection_of("step").average_children == 2);  // idle has no GPU work
  CHECK(r.projection_of("fwd").average_level == 1);
  CHECK(r.projection_of("idle").projected.count == 0);
}

TEST_CASE("a start/end range is projected from work of any thread, whole graphs included") {
  range_reports const r(
      trace_of({range("request", 0_us, 100_us).start_end(), kernel("k", 10_us, 20_us).on_thread(3),
                graph(40_us, 70_us).on_thread(4)}));
  CHECK(r.projection_of("request").projected.total == 60'000);
  CHECK(r.projection_of("request").operations == 2);
}
