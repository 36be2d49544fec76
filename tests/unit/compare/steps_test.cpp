// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/steps.hpp"

#include "support/catch.hpp"

#include <map>

using namespace gpuprof;
using namespace gpuprof::host;

namespace {

constexpr std::uint64_t still_open = 0;

/// Ranges that are added in order of their beginning; names are interned.
class made_ranges {
 public:
  range_id add(std::string const& name, std::uint64_t begin, std::uint64_t end,
               range_id parent = {}, std::string const& domain = "") {
    auto const id = static_cast<range_id>(begins_.size() + 1);
    begins_.push_back({.time = {begin},
                       .range = id,
                       .parent = parent,
                       .name = id_of(name),
                       .domain = id_of(domain)});
    if (end != still_open) ends_.push_back({{end}, id, {}});
    return id;
  }
  range_tree tree() const { return range_tree(begins_, ends_, timestamp_ns{1'000'000}); }
  text_of_name text() const {
    return [this](name_id id) {
      auto const found = names_.find(id);
      return found == names_.end() ? std::string_view{} : std::string_view(found->second);
    };
  }
  std::string steps() const { return find_steps(tree(), text()).name; }

 private:
  name_id id_of(std::string const& name) {
    if (name.empty()) return {};
    auto const number = static_cast<std::uint32_t>(names_.size() + 1);
    auto const [at, is_new] = ids_.try_emplace(name, static_cast<name_id>(number));
    if (is_new) names_[at->second] = name;
    return at->second;
  }

  std::map<std::string, name_id> ids_;
  std::map<name_id, std::string> names_;
  std::vector<range_begin> begins_;
  std::vector<range_end> ends_;
};

}  // namespace

TEST_CASE("a number at the end of a name does not make another name") {
  CHECK(without_number("ProfilerStep#12") == "ProfilerStep");
  CHECK(without_number("step 3") == "step");
  CHECK(without_number("iter[7]") == "iter");
  CHECK(without_number("forward") == "forward");
  CHECK(without_number("42") == "42");
  CHECK(without_number("f()") == "f()");
  CHECK(without_number("") == "");
}

TEST_CASE("the step is the outermost range that repeats") {
  made_ranges ranges;
  auto const all = ranges.add("training", 10, 1000);
  for (std::uint64_t i = 0; i < 4; ++i) {
    auto const step =
        ranges.add("ProfilerStep#" + std::to_string(i), 20 + i * 100, 110 + i * 100, all);
    ranges.add("forward", 25 + i * 100, 60 + i * 100, step);
  }
  auto const tree = ranges.tree();
  auto const steps = find_steps(tree, ranges.text());
  CHECK(steps.name == "ProfilerStep");
  CHECK(steps.instances.size() == 4);
}

TEST_CASE("a range called step is preferred to one that takes a little longer") {
  made_ranges ranges;
  for (std::uint64_t i = 0; i < 5; ++i) {
    ranges.add("validate", 10 + i * 100, 60 + i * 100);
    ranges.add("train_step", 61 + i * 100, 105 + i * 100);
  }
  CHECK(ranges.steps() == "train_step");
}

TEST_CASE("an occasional call is not a step, nor is a range that ran twice") {
  made_ranges ranges;
  for (std::uint64_t i = 0; i < 9; ++i) ranges.add("ncclAllReduce", 10 + i * 100, 12 + i * 100);
  ranges.add("epoch", 2000, 3000);
  ranges.add("epoch", 3000, 4000);
  CHECK(ranges.steps().empty());
  CHECK(made_ranges().steps().empty());
}

TEST_CASE("a named step matches with any number, but not inside itself") {
  made_ranges ranges;
  auto const outer = ranges.add("work 1", 10, 100);
  ranges.add("work 2", 20, 30, outer);
  ranges.add("work 3", 200, 210);
  auto const tree = ranges.tree();
  CHECK(steps_named(tree, ranges.text(), "work").instances.size() == 2);
  CHECK(steps_named(tree, ranges.text(), "work 3").instances.size() == 2);
  CHECK(steps_named(tree, ranges.text(), "nothing").name.empty());
}

TEST_CASE("steps counted by gpuprof_step() are preferred to any range that repeats") {
  made_ranges ranges;
  for (std::uint64_t i = 0; i < 5; ++i) {
    ranges.add("epoch", 10 + i * 1000, 1000 + i * 1000);
    ranges.add("step", 1000 + i * 1000, i < 4 ? 1005 + i * 1000 : still_open, {}, "gpuprof");
  }
  auto const tree = ranges.tree();
  auto const steps = find_steps(tree, ranges.text());
  CHECK(steps.name == "step");
  CHECK(ranges.text()(steps.domain) == "gpuprof");
  CHECK(steps.instances.size() == 4);  // one was open at the end: it is none
  CHECK(steps_named(tree, ranges.text(), "gpuprof:step").instances.size() == 4);
}

TEST_CASE("fewer than three calls of gpuprof_step() do not count as repetition") {
  made_ranges ranges;
  for (std::uint64_t i = 0; i < 5; ++i) {
    ranges.add("iteration", 10 + i * 100, 100 + i * 100);
    if (i < 3) ranges.add("step", 100 + i * 100, i < 2 ? 105 + i * 100 : still_open, {}, "gpuprof");
  }
  CHECK(ranges.steps() == "iteration");
}
