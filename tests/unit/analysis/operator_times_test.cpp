// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/operator_times.hpp"

#include "host/analysis/steps.hpp"
#include "model/torch_ranges.hpp"
#include "support/catch.hpp"
#include "support/trace_of.hpp"

#include <algorithm>

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

namespace {

event op(std::string name, duration_ns start, duration_ns end) {
  return range(std::move(name), start, end).in_domain(std::string(torch_domain));
}

/// Kernels have their number as stack, and instances the numbers and categories that are given.
struct operators {
  trace made;
  range_tree tree;
  operator_times times;

  explicit operators(std::vector<event> events)
      : made(trace_of(std::move(events))),
        tree(made.begins, made.ends, made.last),
        times(tree, made.names.intern(torch_domain)) {}

  void number(std::string_view name, std::uint64_t value, bool is_node, std::size_t n = 0) {
    for (auto& begin : made.begins)
      if (begin.range == made.id_of(name, n)) {
        begin.payload = payload_kind::unsigned64;
        begin.payload_bits = value;
        begin.category =
            static_cast<std::uint32_t>(is_node ? torch_category::node : torch_category::operation);
      }
  }
  std::vector<operator_row> rows(bool by_place = false) {
    for (auto const& begin : made.begins) times.add(begin);
    for (std::size_t i = 0; i < made.kernels.size(); ++i) {
      auto kernel = made.kernels[i];
      kernel.stack = static_cast<stack_id>(i + 1);
      times.add(kernel);
    }
    times.finish();
    return times.rows([](stack_id stack) { return raw(stack); }, by_place);
  }
  operator_row row(std::vector<operator_row> const& all, std::string_view name) {
    auto const found = std::ranges::find_if(
        all, [&](operator_row const& one) { return made.text()(one.name) == name; });
    REQUIRE(found != all.end());
    return *found;
  }
};

}  // namespace

TEST_CASE("an operator has the work inside of it, and by itself what no operator inside launched") {
  operators of({op("linear", 0_us, 100_us), op("addmm", 10_us, 60_us), range("mine", 20_us, 50_us),
                kernel("gemm", 30_us, 40_us), kernel("bias", 70_us, 75_us),
                kernel("other", 200_us, 201_us)});
  auto const rows = of.rows();
  REQUIRE(rows.size() == 2);
  auto const linear = of.row(rows, "linear"), addmm = of.row(rows, "addmm");
  CHECK(linear.gpu_ns == 15'000);
  CHECK(linear.own_gpu_ns == 5'000);
  CHECK(linear.launches == 2);
  CHECK(linear.cpu_ns == 100'000);
  CHECK(linear.own_cpu_ns == 50'000);
  CHECK(addmm.gpu_ns == 10'000);
  CHECK(addmm.own_gpu_ns == 10'000);
  CHECK(addmm.place == 1);
  CHECK(linear.place == 2);  // launched itself
  CHECK(of.times.all_gpu_ns() == 16'000);
  CHECK(of.times.outside_gpu_ns() == 1'000);
}

TEST_CASE("an operator inside one of the same name counts once, but for its own time") {
  operators of({op("to", 0_us, 100_us), op("to", 10_us, 60_us), kernel("copy", 20_us, 30_us)});
  auto const row = of.row(of.rows(), "to");
  CHECK(row.instances == 2);
  CHECK(row.cpu_ns == 100'000);
  CHECK(row.own_cpu_ns == 100'000);
  CHECK(row.gpu_ns == 10'000);
  CHECK(row.launches == 1);
  CHECK(row.place == 1);  // the outer one takes the place of what is inside
}

TEST_CASE("a node was called where the operator with its number was") {
  std::vector<event> const events{op("relu", 0_us, 10_us),
                                  kernel("forward", 2_us, 4_us),
                                  op("tanh", 10_us, 20_us),
                                  kernel("forward", 12_us, 14_us),
                                  op("ReluBackward", 50_us, 60_us).on_thread(2),
                                  kernel("backward", 52_us, 58_us).on_thread(2)};
  operators of(events);
  of.number("relu", 5, false);
  of.number("tanh", 6, false);
  of.number("ReluBackward", 5, true);
  auto const node = of.row(of.rows(), "ReluBackward");
  CHECK(node.is_node);
  CHECK(node.place == 1);
  CHECK(of.times.forward_stack(of.made.kernels[2].range) == static_cast<stack_id>(1));
  CHECK(of.times.forward_stack(of.made.kernels[0].range) == stack_id{});  // in no node
  operators other(events);                                                // a control
  other.number("relu", 5, false);
  other.number("tanh", 6, false);
  other.number("ReluBackward", 6, true);
  CHECK(other.row(other.rows(), "ReluBackward").place == 2);
  operators unknown(events);
  unknown.number("ReluBackward", 5, true);
  CHECK(unknown.row(unknown.rows(), "ReluBackward").place == 0);
}

TEST_CASE("a number that operators of two threads have says nothing") {
  operators of({op("relu", 0_us, 10_us), kernel("forward", 2_us, 4_us),
                op("tanh", 10_us, 20_us).on_thread(3), kernel("forward", 12_us, 14_us).on_thread(3),
                op("Backward", 50_us, 60_us).on_thread(2)});
  of.number("relu", 5, false);
  of.number("tanh", 5, false);
  of.number("Backward", 5, true);
  CHECK(of.row(of.rows(), "Backward").place == 0);
}

TEST_CASE("rows by place tell the callers of an operator apart") {
  operators of({op("mm", 0_us, 10_us), kernel("a", 2_us, 4_us), op("mm", 10_us, 20_us),
                kernel("b", 12_us, 17_us)});
  auto const rows = of.rows(true);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].gpu_ns + rows[1].gpu_ns == 7'000);
  CHECK(rows[0].place != rows[1].place);
  operators again({op("mm", 0_us, 10_us), kernel("a", 2_us, 4_us), op("mm", 10_us, 20_us),
                   kernel("b", 12_us, 17_us)});
  auto const one = again.row(again.rows(), "mm");
  CHECK(one.instances == 2);
  CHECK(one.place == 2);  // most of the GPU time
}

TEST_CASE("operators are no steps, however often they come") {
  std::vector<event> events;
  for (auto i = 0; i < 20; ++i)
    events.push_back(op("aten::step", duration_ns{i * 10'000}, duration_ns{i * 10'000 + 9'000}));
  auto const t = trace_of(events);
  CHECK(find_steps(range_tree(t.begins, t.ends, t.last), t.text()).instances.empty());
  for (auto& one : events) one.domain_name = "mine";
  auto const named = trace_of(events);  // a control
  CHECK(
      find_steps(range_tree(named.begins, named.ends, named.last), named.text()).instances.size() ==
      20);
}
