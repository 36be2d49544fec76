// SPDX-License-Identifier: Apache-2.0
// Steps, ranges of threads, the ledger by both.
#include "host/analysis/timeline/step_ranges.hpp"
#include "host/analysis/timeline/time_bucket.hpp"
#include "items.hpp"
#include "support/catch.hpp"

#include <map>

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

namespace {

struct made_ranges {
  std::vector<range_begin> begins;
  std::vector<range_end> ends;
  std::map<std::string, name_id> ids;
  std::vector<std::string> texts{""};

  range_id add(std::string const& name, double begin, double end, range_id parent = {},
               std::uint32_t thread = 1) {
    auto const [known, is_new] = ids.try_emplace(name, static_cast<name_id>(texts.size()));
    if (is_new) texts.push_back(name);
    auto const id = static_cast<range_id>(begins.size() + 1);
    begins.push_back({.time = us(begin),
                      .range = id,
                      .parent = parent,
                      .thread = static_cast<thread_index>(thread),
                      .level = static_cast<std::uint16_t>(raw(parent) == 0 ? 0 : 1),
                      .name = known->second});
    ends.push_back({us(end), id, static_cast<thread_index>(thread)});
    return id;
  }
  range_tree tree() const { return {begins, ends, us(1'000'000)}; }
  text_of_name text() const {
    return [this](name_id id) { return std::string_view(texts[raw(id)]); };
  }
};

}  // namespace

TEST_CASE("each range knows the step that it lies in") {
  made_ranges made;
  auto const run = made.add("training", 0, 1000);
  for (int i = 0; i < 10; ++i) {
    auto const step = made.add("step " + std::to_string(i), i * 100, i * 100 + 90, run);
    made.add("forward", i * 100, i * 100 + 40, step);
  }
  auto const tree = made.tree();
  auto const steps = number_steps(tree, made.text(), "");
  CHECK(steps.name == "step");
  CHECK(steps.instances.size() == 10);
  CHECK(steps.step_of_range[0] == no_step);
  CHECK(steps.step_of_range[steps.instances[3]] == 3);
  CHECK(steps.step_of_range[steps.instances[3] + 1] == 3);  // forward
  CHECK(number_steps(tree, made.text(), "forward").name == "forward");
  CHECK(number_steps(tree, made.text(), "nothing like it").empty());
}

TEST_CASE("ranges with a usual name are steps although most of the run lies between them") {
  made_ranges made;
  auto const run = made.add("training", 0, 10'000);
  for (int i = 0; i < 5; ++i) made.add("step", i * 2000, i * 2000 + 50, run);
  auto const tree = made.tree();
  CHECK(number_steps(tree, made.text(), "").name == "step");
  CHECK(number_steps(tree, made.text(), "").instances.size() == 5);
}

TEST_CASE("a thread is in its innermost range, and without ranges in those of the main thread") {
  made_ranges made;
  auto const outer = made.add("outer", 0, 100);
  made.add("inner", 20, 40, outer);
  made.add("later", 200, 300);
  auto const tree = made.tree();
  thread_ranges const of(tree, static_cast<thread_index>(1));
  auto const main = static_cast<thread_index>(1);
  CHECK(of.innermost(main, us(250)) == 2);
  CHECK(of.innermost(main, us(30)) == 1);
  CHECK(of.innermost(main, us(50)) == 0);
  CHECK(of.innermost(main, us(150)) == no_range);
  CHECK(of.innermost(static_cast<thread_index>(9), us(30)) == 1);
}

TEST_CASE("time counts in the innermost range and in those around it, once for each name") {
  made_ranges made;
  auto const step = made.add("step", 0, 100);
  auto const layer = made.add("layer", 10, 90, step);
  made.add("layer", 20, 80, layer);
  auto const tree = made.tree();
  auto const steps = number_steps(tree, made.text(), "step");
  time_ledger ledger(tree, steps.step_of_range);
  ledger.add(device_id{0}, time_bucket::compute, 100, 2);
  ledger.add(device_id{0}, time_bucket::launch_bound, 10, 0);
  ledger.add(device_id{1}, time_bucket::compute, 5, no_range);
  CHECK(ledger.total().total() == 115);
  CHECK(ledger.by_device().at(device_id{0}).total() == 110);
  CHECK(ledger.by_step().at(0).total() == 110);
  auto const lines = ledger.by_range();
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].inclusive.total() == 110);
  CHECK(lines[0].exclusive.total() == 10);
  CHECK(lines[1].inclusive.total() == 100);
  CHECK(lines[1].exclusive.total() == 100);
  CHECK(lines[2].is_outside);
}

TEST_CASE("ranges of any depth get what happens inside") {
  made_ranges made;
  auto at = made.add("level 0", 0, 100);
  for (int level = 1; level < 40; ++level)
    at = made.add("level " + std::to_string(level), 0, 100, at);
  auto const tree = made.tree();
  time_ledger ledger(tree, {});
  ledger.add(device_id{0}, time_bucket::compute, 7, 39);
  auto const lines = ledger.by_range();
  CHECK(lines.size() == 40);
  for (auto const& line : lines) CHECK(line.inclusive.total() == 7);
}
