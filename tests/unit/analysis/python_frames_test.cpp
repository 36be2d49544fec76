// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/python_frames.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::host;

namespace {

constexpr std::uint32_t main_thread = 100, other_thread = 101;

/// 1 calls 2, which calls 3 and 4; 5 is another line of the outermost function; 3 calls native
/// code.
std::vector<stack_record> const& stacks() {
  static auto const made = [] {
    std::vector<stack_record> rows(6);
    constexpr std::uint32_t callers[] = {0, 0, 1, 2, 2, 0};
    for (std::uint32_t i = 1; i < rows.size(); ++i)
      rows[i] = {.stack = stack_id{i}, .caller = static_cast<stack_id>(callers[i])};
    rows.push_back({.stack = stack_id{6}, .caller = stack_id{3}, .address = 0x1230});
    return rows;
  }();
  return made;
}

kernel_record launched(std::uint64_t at, std::uint32_t stack) {
  kernel_record row;
  row.launched = {at};
  row.stack = static_cast<stack_id>(stack);
  return row;
}

api_record call(std::uint64_t start, std::int64_t length, std::uint32_t stack) {
  api_record row;
  row.start = {start};
  row.duration = {length};
  row.os_thread = main_thread;
  row.stack = static_cast<stack_id>(stack);
  return row;
}

thread_sample_record looks(std::uint64_t start, std::int64_t length, std::uint32_t stack) {
  thread_sample_record row;
  row.start = {start};
  row.duration = {length};
  row.os_thread = main_thread;
  row.stack = static_cast<stack_id>(stack);
  return row;
}

/// Collects frames as "stack start-end", in the order in which they begin.
struct collected {
  std::vector<std::string> frames;
  std::vector<std::uint64_t> parents;
  std::string begun;
  python_frames of{stacks(),
                   [this](python_frame const& frame) {
                     begun += std::to_string(raw(frame.frame));
                     frames.resize(frame.id);
                     parents.resize(frame.id);
                     parents[frame.id - 1] = frame.parent;
                   },
                   [this](python_frame const& frame) {
                     frames[frame.id - 1] = std::to_string(raw(frame.frame)) + ' ' +
                                            std::to_string(frame.start.value) + '-' +
                                            std::to_string(frame.end.value);
                   }};
};

using texts = std::vector<std::string>;

}  // namespace

TEST_CASE("native frames have no slices, and their Python callers have") {
  collected all;
  all.of.add(launched(10, 6), main_thread, 5);
  all.of.finish();
  CHECK(all.begun == "123");
}

TEST_CASE("launches that follow each other share the frames that all have on their stacks") {
  collected made;
  made.of.add(launched(100, 3), main_thread, 10);
  made.of.add(launched(200, 4), main_thread, 10);
  made.of.add(launched(300, 5), main_thread, 10);
  made.of.finish();
  CHECK(made.frames == texts{"1 100-210", "2 100-210", "3 100-110", "4 200-210", "5 300-310"});
  CHECK(made.parents == std::vector<std::uint64_t>{0, 1, 2, 2, 0});
  CHECK(made.begun == "12345");
}

TEST_CASE("a launch without a stack neither ends nor lengthens a frame") {
  collected made;
  made.of.add(launched(100, 2), main_thread, 10);
  made.of.add(launched(200, 0), main_thread, 10);
  made.of.add(launched(300, 2), main_thread, 10);
  made.of.add(launched(400, 0), main_thread, 10);
  made.of.finish();
  CHECK(made.frames == texts{"1 100-310", "2 100-310"});
}

TEST_CASE("work that ran in another order than it was launched is put into the order of launches") {
  collected made;
  for (auto const at : {300, 100, 200})
    made.of.add(launched(at, at == 200 ? 5 : 2), main_thread, 0);
  made.of.finish();
  CHECK(made.frames == texts{"1 100-100", "2 100-100", "5 200-200", "1 300-300", "2 300-300"});
}

TEST_CASE("frames have the length of the call around, with the stack that one of its calls has") {
  collected made;
  made.of.add(call(100, 100, 0));
  made.of.add(call(120, 20, 2));
  made.of.add(launched(125, 5), main_thread, 0);
  made.of.add(looks(150, 0, 5));
  made.of.finish();
  CHECK(made.frames == texts{"1 100-200", "2 100-200"});
}

TEST_CASE("a thread that was looked at has its frames from the first look to the last") {
  collected made;
  made.of.add(looks(100, 50, 1));
  made.of.add(looks(170, 0, 0));
  made.of.add(looks(180, 0, 5));
  made.of.finish();
  CHECK(made.frames == texts{"1 100-150", "5 180-180"});
}

TEST_CASE("frames of a thread end at a cut, those of others do not") {
  collected made;
  for (auto const thread : {main_thread, other_thread}) {
    made.of.add(launched(100, 1), thread, 10);
    made.of.add(launched(300, 1), thread, 10);
  }
  made.of.cut(main_thread, {200});
  made.of.finish();
  std::sort(made.frames.begin(), made.frames.end());
  CHECK(made.frames == texts{"1 100-110", "1 100-310", "1 300-310"});
}

TEST_CASE("stacks of a damaged file end the walk over them") {
  auto damaged = stacks();
  damaged[2].caller = stack_id{4};
  damaged[5].caller = stack_id{5};
  std::size_t ended = 0;
  python_frames of(
      damaged, [](auto const&) {}, [&](auto const&) { ++ended; });
  of.add(launched(100, 3), main_thread, 0);
  of.add(launched(200, 5), main_thread, 0);
  of.add(launched(300, 77), main_thread, 0);
  of.finish();
  CHECK(ended == 3);
}
