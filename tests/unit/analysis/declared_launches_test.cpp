// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/declared_launches.hpp"

#include "support/catch.hpp"
#include "support/trace_of.hpp"

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

namespace {

constexpr std::uint64_t gemm = 7, other = 8;

range_tree tree_with(trace const& t) {
  return {t.begins, t.ends, t.last};
}

}  // namespace

TEST_CASE("declared work of a range is divided among launches if it holds only one kernel") {
  auto const t = trace_of({range("a", 0_us, 10_us), range("b", 20_us, 30_us)});
  auto const tree = tree_with(t);
  declared_launches declared(tree, {{t.id_of("a"), 6e9}, {t.id_of("b"), 3e9}});
  REQUIRE(declared.any());
  for (int i = 0; i < 2; ++i) declared.add(gemm, tree.index_of(t.id_of("a")));
  declared.add(gemm, tree.index_of(t.id_of("b")));
  declared.add(gemm, no_range);
  auto const found = declared.by_kernel();
  REQUIRE(found.size() == 1);
  CHECK(found.at(gemm).flops == 9e9);
  CHECK(found.at(gemm).launches == 3);
}

TEST_CASE("a range with two kernels, or with a graph, gives no declared work per launch") {
  auto const t = trace_of({range("a", 0_us, 10_us), range("b", 20_us, 30_us)});
  auto const tree = tree_with(t);
  declared_launches declared(tree, {{t.id_of("a"), 6e9}, {t.id_of("b"), 3e9}});
  for (auto const kernel : {gemm, other, gemm}) declared.add(kernel, tree.index_of(t.id_of("a")));
  declared.add(gemm, tree.index_of(t.id_of("b")));
  declared.add(declared_launches::several, tree.index_of(t.id_of("b")));
  declared.add(gemm, tree.index_of(t.id_of("b")));
  CHECK(declared.by_kernel().empty());
}

TEST_CASE("a launch belongs to the innermost range around it that declares") {
  auto const t = trace_of(
      {range("layer", 0_us, 100_us), range("matmul", 10_us, 50_us), range("inner", 20_us, 40_us)});
  auto const tree = tree_with(t);
  declared_launches declared(tree, {{t.id_of("layer"), 5e9}, {t.id_of("matmul"), 4e9}});
  declared.add(gemm, tree.index_of(t.id_of("inner")));
  declared.add(other, tree.index_of(t.id_of("layer")));
  auto const found = declared.by_kernel();
  CHECK(found.at(gemm).flops == 4e9);
  CHECK(found.at(other).flops == 5e9);
}

TEST_CASE("without declared work the result is empty") {
  auto const t = trace_of({range("a", 0_us, 10_us)});
  auto const tree = tree_with(t);
  declared_launches declared(tree, {});
  CHECK(!declared.any());
  declared.add(gemm, 0);
  CHECK(declared.by_kernel().empty());
}
