// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/module_tree.hpp"

#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::host;

namespace {

/// Stacks whose frames call modules of these names; "" is a frame that calls none.
struct made_stacks {
  std::vector<stack_record> stacks{1};
  std::vector<std::string> names{""};

  stack_id add(stack_id caller, std::string const& module) {
    stack_record made;
    made.stack = static_cast<stack_id>(stacks.size());
    made.caller = caller;
    if (!module.empty()) {
      made.module = static_cast<name_id>(names.size());
      names.push_back(module);
    }
    stacks.push_back(made);
    return made.stack;
  }
  module_tree tree() const {
    return module_tree(stacks, [&](name_id name) { return std::string_view(names[raw(name)]); });
  }
};

kernel_record kernel_of(stack_id stack, std::uint64_t start, std::int64_t ns) {
  kernel_record made;
  made.start = {start};
  made.duration = {ns};
  made.stack = stack;
  return made;
}

}  // namespace

TEST_CASE("a module's path leaves out the outermost one, as long as no other holds modules") {
  made_stacks made;
  auto const main = made.add({}, "");
  auto const model = made.add(main, ": GPT2");
  auto const block = made.add(made.add(model, ""), "transformer.h.3: Block");
  auto const layer = made.add(block, "mlp.c_fc: Conv1D");
  auto const unnamed = made.add(block, ": Dropout");
  auto const loss = made.add(main, ": CrossEntropyLoss");
  auto const tree = made.tree();
  auto const path = [&](stack_id stack) { return tree.modules()[tree.of(stack)].path; };
  CHECK(tree.of(main) == 0);
  CHECK(path(model) == "(GPT2)");
  CHECK(path(block) == "transformer.h.3");
  CHECK(path(layer) == "transformer.h.3.mlp.c_fc");
  CHECK(tree.modules()[tree.of(layer)].type == "Conv1D");
  CHECK(path(unnamed) == "transformer.h.3.(Dropout)");
  CHECK(path(loss) == "(CrossEntropyLoss)");
}

TEST_CASE("paths begin with the outermost module where several hold modules") {
  made_stacks made;
  auto const generator = made.add(made.add({}, ": Generator"), "main.0: Linear");
  auto const judge = made.add(made.add({}, ": Discriminator"), "main.0: Linear");
  auto const tree = made.tree();
  CHECK(tree.modules()[tree.of(generator)].path == "(Generator).main.0");
  CHECK(tree.modules()[tree.of(judge)].path == "(Discriminator).main.0");
}

TEST_CASE("modules that differ in numbers are one group, and a group counts a stack once") {
  made_stacks made;
  auto const model = made.add({}, ": Net");
  auto const outer = made.add(model, "0: Block");
  auto const inner = made.add(outer, "1: Block");  // a block in a block
  auto const other = made.add(model, "2: Block");
  auto const outside = made.add({}, "");
  stack_times times;
  times.add(kernel_of(inner, 0, 10));
  times.add(kernel_of(other, 100, 5));
  times.add(kernel_of(outside, 200, 1));
  times.add(kernel_of(model, 300, 2));
  times.finish();
  auto const tree = made.tree();
  auto const folded = group_by_module(times, tree, true);
  REQUIRE(folded.size() == 4);
  CHECK(folded[0].modules == 0);
  CHECK(folded[0].own.gpu_ns == 1);
  CHECK(folded[1].path == "*.*");
  CHECK(folded[1].own.gpu_ns == 10);
  CHECK(folded[2].path == "*");
  CHECK(folded[2].modules == 2);
  CHECK(folded[2].own.gpu_ns == 5);
  CHECK(folded[2].total.gpu_ns == 15);
  CHECK(folded[3].path == "(Net)");
  CHECK(folded[3].total.gpu_ns == 17);
  CHECK(group_by_module(times, tree, false).size() == 5);
}

TEST_CASE("a damaged stack has no module") {
  made_stacks made;
  made.stacks.push_back({});
  made.stacks.back().caller = static_cast<stack_id>(77);
  auto const tree = made.tree();
  CHECK(tree.of(static_cast<stack_id>(1)) == 0);
  CHECK(tree.of(static_cast<stack_id>(900)) == 0);
}
