// SPDX-License-Identifier: Apache-2.0
#include "host/replay/step_paths.hpp"

#include "host/replay/replay.hpp"
#include "made_machine.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <vector>

namespace gpuprof::host::replay {
namespace {

step_paths paths_of(recorded_steps recorded, std::size_t count = 20) {
  step_graph const graph(std::move(recorded));
  step_edit const unchanged(graph);
  return step_paths_of(unchanged, replay(unchanged), count);
}

double share_of(path_of_group const& group, path_part part) {
  return group.parts[static_cast<std::size_t>(part)].path_ns / group.length_ns;
}

double sum_of(path_of_group const& group) {
  double sum = 0;
  for (auto const& part : group.parts) sum += part.path_ns;
  return sum;
}

path_subject const* find(step_paths const& in, std::string const& name) {
  auto const found = std::find_if(in.subjects.begin(), in.subjects.end(),
                                  [&](auto const& one) { return one.name == name; });
  return found == in.subjects.end() ? nullptr : &*found;
}

TEST_CASE("the path of a step, by kind of work, is as long as the step") {
  auto const found = paths_of(
      record({work(5000), kernel("a", 30'000), copy("c", 10'000), wait(), work(20'000)}, 60));
  CHECK(found.steps == 60);
  for (auto const* const group : {&found.median, &found.slowest}) {
    CHECK(group->steps == 1);
    CHECK(sum_of(*group) == Approx(group->length_ns));
    CHECK(group->length_ns > 65'000);
  }
  CHECK(find(found, "a")->median.path_ns == Approx(30'000));
  CHECK(find(found, "a")->median.count == 1);
  CHECK(find(found, "a")->kind == subject_kind::work);
  CHECK(find(found, "c")->median.path_ns == Approx(10'000));
  CHECK(find(found, "step")->kind == subject_kind::range);
  CHECK(find(found, "step")->median.path_ns >= 20'000);
}

TEST_CASE("the longest step of a group has its path from begin to end, where it was recorded") {
  auto const recorded =
      record({work(5000), kernel("a", 30'000), copy("c", 10'000), wait(), work(20'000)}, 60);
  auto const found = paths_of(recorded);
  for (auto const* const group : {&found.median, &found.slowest}) {
    REQUIRE_FALSE(group->longest.empty());
    double length_ns = 0;
    for (std::size_t i = 0; i < group->longest.size(); ++i) {
      auto const& one = group->longest[i];
      length_ns += static_cast<double>(one.end_ns - one.begin_ns);
      if (i > 0) CHECK(one.begin_ns == group->longest[i - 1].end_ns);
      if (one.part != path_part::kernels) continue;
      CHECK(one.begin_ns == recorded.items[one.element].start_ns);
      CHECK(one.end_ns == recorded.items[one.element].end_ns);
    }
    CHECK(length_ns == Approx(group->length_ns));
  }
}

TEST_CASE("a kernel beside the path is listed with its time") {
  std::vector<act> step;
  for (int i = 0; i < 5; ++i) {
    step.push_back(work(30'000));
    step.push_back(kernel("hidden", 20'000));
  }
  auto const found = paths_of(record(step, 60));
  auto const* const hidden = find(found, "hidden");
  REQUIRE(hidden != nullptr);
  CHECK(hidden->median.path_ns == 0);
  CHECK(hidden->median.count == 0);
  CHECK(hidden->median.total_ns == Approx(100'000));
  CHECK(share_of(found.median, path_part::cpu_work) == Approx(1));
}

TEST_CASE("the slowest of a hundred steps show what makes them slow") {
  std::vector<std::vector<act>> kinds(100, {work(30'000), kernel("a", 50'000), wait()});
  kinds[70] = {work(30'000), kernel("a", 50'000), kernel("rare", 200'000), wait()};
  auto const found = paths_of(record_in_turn(kinds, 200));
  CHECK(found.slowest.steps == 2);
  auto const* const rare = find(found, "rare");
  REQUIRE(rare != nullptr);
  CHECK(rare->median.total_ns == 0);
  CHECK(rare->slowest.path_ns == Approx(200'000));
  CHECK(rare->slowest.count == 1);
  CHECK(found.subjects.front().name == "rare");
  CHECK(sum_of(found.slowest) == Approx(found.slowest.length_ns));
}

TEST_CASE("only so many subjects of the path are listed, and a few beside it") {
  std::vector<act> step;
  for (int i = 0; i < 30; ++i) step.push_back(kernel("k" + std::to_string(i), 20'000 + i * 100));
  auto const found = paths_of(record(step, 20), 4);
  CHECK(found.subjects.size() == 4 + 5);
  CHECK(found.subjects.front().name == "k29");
}

TEST_CASE("steps that are launched ahead of the GPU are as long as the GPU takes") {
  step_graph const graph(record({work(1000), kernel("a", 60'000), kernel("b", 40'000)}, 50));
  step_edit const unchanged(graph);
  auto const replayed = replay(unchanged);
  auto const found = step_paths_of(unchanged, replayed, 20);
  auto const mean = path_of(unchanged, replayed);
  CHECK(found.median.length_ns == Approx(mean.total_ns()).epsilon(0.01));
  CHECK(share_of(found.median, path_part::kernels) ==
        Approx(mean[path_part::kernels] / mean.total_ns()).epsilon(0.01));
  CHECK(find(found, "b")->median.path_ns == Approx(40'000));
}

TEST_CASE("the time of a subject on the path is part of its time in the step") {
  auto const found = paths_of(
      record({work(3000), kernel("a", 40'000), kernel("b", 30'000, 1), wait(), work(9000)}, 40));
  for (auto const& one : found.subjects) {
    CHECK(one.median.path_ns <= one.median.total_ns * 1.000001);
    CHECK(one.slowest.path_ns <= one.slowest.total_ns * 1.000001);
  }
}

TEST_CASE("a step that earlier GPU work hides a part of is left out") {
  auto recorded = record({work(1000), kernel("a", 50'000), wait()}, 10);
  recorded_item before;
  before.start_ns = -1000;
  before.end_ns = 20'000;
  before.launched_ns = -6000;
  before.is_from_before = true;
  before.stream = 9;
  recorded.items.push_back(before);
  CHECK(paths_of(recorded).steps == 9);
  recorded.items.back().end_ns = recorded.end_ns - 1000;
  CHECK(paths_of(recorded).steps == 0);
  CHECK(paths_of(recorded).subjects.empty());
}

}  // namespace
}  // namespace gpuprof::host::replay
