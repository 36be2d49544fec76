// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/stack_times.hpp"
#include "support/catch.hpp"

#include <vector>

using namespace gpuprof;
using namespace gpuprof::host;

namespace {

stack_record frame(std::uint32_t stack, std::uint32_t caller, std::uint64_t address) {
  return {.stack = static_cast<stack_id>(stack),
          .caller = static_cast<stack_id>(caller),
          .file = name_id{1},
          .function = static_cast<name_id>(stack),
          .line = address == 0 ? stack : 0,
          .address = address};
}

/// 1: Python. 2: native, called by it. 3: native alone, 4: called by that.
std::vector<stack_record> const stacks{
    {}, frame(1, 0, 0), frame(2, 1, 0x20), frame(3, 0, 0x30), frame(4, 3, 0x40)};

/// A copy with the stack, and a kernel without one.
stack_times copy_and_kernel(stack_id of_copy) {
  stack_times times;
  copy_record copy;
  copy.stack = of_copy;
  copy.duration = {10};
  times.add(copy);
  kernel_record kernel;
  kernel.start = {20};
  kernel.duration = {100};
  times.add(kernel);
  return times;
}

}  // namespace

TEST_CASE("a stack is native if none of its frames is Python's") {
  CHECK(native_only(stacks) == std::vector<bool>{false, false, false, true, true});
}

TEST_CASE("kernels do not count for native stacks of other work, but for those of Python they do") {
  auto of_native = copy_and_kernel(stack_id{4});
  of_native.finish(native_only(stacks));
  CHECK(of_native.stacks().at(stack_id{4}).gpu_ns == 10);
  REQUIRE(of_native.without_stack().size() == 1);
  CHECK(of_native.without_stack().begin()->second.gpu_ns == 100);

  auto of_python = copy_and_kernel(stack_id{2});
  of_python.finish(native_only(stacks));
  CHECK(of_python.stacks().at(stack_id{2}).gpu_ns == 110);
  CHECK(of_python.without_stack().empty());
}

TEST_CASE("a line of Python has the work of the native code that it calls") {
  auto times = copy_and_kernel(stack_id{2});
  times.finish(native_only(stacks));
  auto const groups =
      group_stacks(times, stacks, stack_grouping::line, [](stack_record const&) { return true; });
  for (auto const& group : groups)
    CHECK(group.own.gpu_ns == (group.frame.stack == stack_id{1} ? 110 : 0));
}

TEST_CASE("native frames of one file are rows of their own, by function") {
  auto times = copy_and_kernel(stack_id{4});
  times.finish(native_only(stacks));
  auto const groups =
      group_stacks(times, stacks, stack_grouping::line, [](stack_record const&) { return true; });
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].frame.stack == stack_id{4});
  CHECK(groups[0].own.gpu_ns == 10);
  CHECK(groups[1].frame.stack == stack_id{3});
  CHECK(groups[1].total.gpu_ns == 10);
}
