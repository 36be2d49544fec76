// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/range_paths.hpp"

#include "host/analysis/samples.hpp"
#include "support/catch.hpp"
#include "support/trace_of.hpp"

#include <random>

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

namespace {

/// The paths of a trace, with the work that it holds.
struct paths_of_trace {
  explicit paths_of_trace(trace const& t, std::size_t limit = 100,
                          range_grouping const& line_of = listed_by_name)
      : traced(t),
        tree(t.begins, t.ends, t.last),
        open(tree),
        launched(tree, range_scope::process, thread_index{1}) {
    range_paths paths(tree, open, launched, line_of);
    for (auto const& kernel : t.kernels) paths.add(kernel, nanoseconds(kernel.duration));
    for (auto const& copy : t.copies) paths.add(copy, nanoseconds(copy.duration));
    made = paths.bounded(limit);
  }
  /// That of the n-th range of this name.
  range_path const& operator()(std::string_view name, std::size_t n = 0) const {
    return made.paths[made.of_range[tree.index_of(traced.id_of(name, n))]];
  }

  trace const& traced;
  range_tree tree;
  open_ranges open;
  launch_ranges launched;
  bounded_paths made;
};

/// Own times add up to those with what is inside, and parents come first.
void check_sums(std::vector<range_path> const& paths) {
  for (std::uint32_t i = 0; i < paths.size(); ++i) {
    auto cpu = paths[i].own_cpu_ns, gpu = paths[i].own_gpu_ns;
    for (std::uint32_t j = 0; j < paths.size(); ++j)
      if (paths[j].parent == i) {
        CHECK(j > i);
        cpu += paths[j].cpu_ns;
        gpu += paths[j].gpu_ns;
      }
    CHECK(cpu == paths[i].cpu_ns);
    CHECK(gpu == paths[i].gpu_ns);
  }
}

}  // namespace

TEST_CASE("a range name has a separate place in each range around it") {
  auto const t = trace_of(
      {range("fwd", 0_us, 100_us), range("gemm", 10_us, 30_us), kernel("a", 12_us, 22_us),
       range("bwd", 200_us, 400_us), range("gemm", 210_us, 250_us), kernel("a", 215_us, 235_us),
       kernel("b", 300_us, 305_us), copy(copy_kind::host_to_device, 8, 390_us, 391_us)});
  paths_of_trace const paths(t);
  REQUIRE(paths.made.paths.size() == 4);
  CHECK(paths("gemm").gpu_ns == 10'000);
  CHECK(paths("gemm", 1).gpu_ns == 20'000);
  CHECK(paths("gemm", 1).cpu_ns == 40'000);
  CHECK(paths("bwd").own_cpu_ns == 160'000);
  CHECK(paths("bwd").gpu_ns == 26'000);
  CHECK(paths("bwd").own_gpu_ns == 6'000);
  CHECK(paths("bwd").operations == 3);
  CHECK(paths.made.joined == 0);
  check_sums(paths.made.paths);
}

TEST_CASE("ranges that are entered again share one place") {
  auto const t = trace_of({range("step 0", 0_us, 10_us), range("gemm", 1_us, 3_us),
                           range("step 1", 10_us, 30_us), range("gemm", 11_us, 17_us)});
  paths_of_trace const paths(t, 100, [&](traced_range const& range) {
    auto key = key_of(range);
    if (t.names.text(range.name) == "step 1") key.name = t.begins[0].name;
    return key;
  });
  REQUIRE(paths.made.paths.size() == 2);
  CHECK(paths("step 1").instances == 2);
  CHECK(paths("step 1").cpu_ns == 30'000);
  CHECK(paths("gemm").instances == 2);
  CHECK(paths("gemm").cpu_ns == 8'000);
}

TEST_CASE("a range inside a range of the same name has its own place, and is counted once there") {
  auto const t =
      trace_of({range("f", 0_us, 100_us), range("f", 10_us, 40_us), kernel("k", 20_us, 30_us)});
  paths_of_trace const paths(t);
  REQUIRE(paths.made.paths.size() == 2);
  CHECK(paths("f").cpu_ns == 100'000);
  CHECK(paths("f").own_cpu_ns == 70'000);
  CHECK(paths("f").gpu_ns == 10'000);
  CHECK(paths("f").own_gpu_ns == 0);
  CHECK(paths("f", 1).own_gpu_ns == 10'000);
}

TEST_CASE("work also counts in the start/end ranges that were open at its launch") {
  auto const t = trace_of({range("io", 0_us, 100_us).start_end(), range("step", 10_us, 50_us),
                           kernel("k", 20_us, 30_us), kernel("late", 120_us, 130_us)});
  paths_of_trace const paths(t);
  CHECK(paths("io").gpu_ns == 10'000);
  CHECK(paths("io").parent == no_range);
  CHECK(paths("step").gpu_ns == 10'000);
}

TEST_CASE("beyond the limit of paths the short ones are joined within their parent") {
  std::vector<event> events = {range("step", 0_us, 1000_us), range("long", 0_us, 500_us),
                               kernel("k", 10_us, 300_us)};
  for (int i = 0; i < 20; ++i)
    events.push_back(range(numbered("short ", i), 500_us + duration_ns{i * 10'000},
                           504_us + duration_ns{i * 10'000}));
  auto const t = trace_of(events);
  paths_of_trace const paths(t, 6);
  CHECK(paths.made.paths.size() <= 6);
  CHECK(paths.made.paths.size() + paths.made.joined == 22 + 1);
  auto const& joined = paths("short 19");
  CHECK(&joined == &paths("short 18"));
  CHECK(joined.joined == paths.made.joined);
  CHECK(joined.instances == joined.joined);
  CHECK(joined.cpu_ns == joined.joined * 4'000);
  CHECK(&paths.made.paths[joined.parent] == &paths("step"));
  CHECK(paths("long").joined == 0);
  check_sums(paths.made.paths);
}

TEST_CASE("a path is not joined if it would be the only one") {
  auto const t = trace_of({range("step", 0_us, 100_us), range("long", 0_us, 50_us),
                           range("inner", 1_us, 20_us), range("short", 60_us, 61_us)});
  paths_of_trace const paths(t, 3);  // a place for "step", one for what is inside
  CHECK(paths.made.joined == 3);
  auto const two = trace_of({range("step", 0_us, 100_us), range("short", 60_us, 61_us),
                             range("other", 200_us, 300_us), range("last", 400_us, 401_us)});
  paths_of_trace const some(two, 3);
  CHECK(some("short").joined == 0);
  CHECK(some("short").key.name == two.begins[1].name);
  CHECK(some("last").joined == 2);
  CHECK(some.made.joined == 2);
}

TEST_CASE("a tree of ranges never exceeds the limit of places, and no time is lost") {
  std::mt19937 random(7);
  std::vector<event> events;
  auto const nest = [&](auto const& self, std::int64_t begin, std::int64_t end, int depth) -> void {
    events.push_back(range(numbered("r", static_cast<int>(random() % 40)), {begin}, {end}));
    if (end - begin > 40) events.push_back(kernel("k", {begin + 1}, {begin + 3}));
    auto const half = (end - begin) / 2;
    if (depth == 0 || half < 20) return;
    self(self, begin + 5, begin + half - 5, depth - 1);
    self(self, begin + half + 5, end - 5, depth - 1);
  };
  for (int i = 0; i < 30; ++i) nest(nest, i * 1'000'000, i * 1'000'000 + 900'000, 6);
  auto const t = trace_of(events);
  paths_of_trace const all(t, 1'000'000);
  REQUIRE(all.made.paths.size() > 1000);
  auto const total = [](bounded_paths const& of, std::uint64_t range_path::*ns) {
    std::uint64_t sum = 0;
    for (auto const& path : of.paths) sum += path.*ns;
    return sum;
  };
  for (std::size_t const limit : {0, 1, 2, 3, 10, 100, 999}) {
    paths_of_trace const some(t, limit);
    CHECK(some.made.paths.size() <= std::max<std::size_t>(limit, 1));
    CHECK(total(some.made, &range_path::own_cpu_ns) == total(all.made, &range_path::own_cpu_ns));
    CHECK(total(some.made, &range_path::own_gpu_ns) == total(all.made, &range_path::own_gpu_ns));
    check_sums(some.made.paths);
  }
}

TEST_CASE("a trace without ranges has no paths") {
  auto const t = trace_of({kernel("k", 0_us, 1_us)});
  CHECK(paths_of_trace(t).made.paths.empty());
}
