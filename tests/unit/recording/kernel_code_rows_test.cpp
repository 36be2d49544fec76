// SPDX-License-Identifier: Apache-2.0
// Which rows of a capture say what kernels can compute with.
#include "guest/recording/kernel_code_rows.hpp"

#include "support/catch.hpp"
#include "support/made_cubin.hpp"

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;
using enum instruction_class;

namespace {

struct code_scene {
  void load(std::string const& kernel, machine_word word) {
    inventory.add_module(made_cubin{90, {{kernel, {word}, {}, false}}}.bytes());
  }
  /// Kernel n is called "n".
  std::vector<kernel_code_record> after(std::vector<std::uint32_t> const& ran) {
    for (auto const name : ran) names.push_back(static_cast<name_id>(name));
    return rows.fresh(inventory, names, [](name_id id) { return std::to_string(raw(id)); });
  }
  code_inventory inventory;
  kernel_code_rows rows;
  std::vector<name_id> names;
};

}  // namespace

TEST_CASE("each kernel that ran gets one row") {
  code_scene s;
  s.load("1", sass::ffma);
  s.load("2", sass::dfma);
  auto const first = s.after({1, 0, 1});
  REQUIRE(first.size() == 1);
  CHECK(first[0].name == name_id{1});
  CHECK(code_of(first[0]) == kernel_code{90, instruction_class::fp32, true, {1, 2, 0}});
  CHECK(s.after({}).empty());
  CHECK(s.after({1}).empty());
  CHECK(s.after({2}).size() == 1);
}

TEST_CASE("a kernel whose module is loaded after its first records gets its row then") {
  code_scene s;
  CHECK(s.after({3}).empty());
  s.load("3", sass::ffma);
  CHECK(s.after({}).size() == 1);
}

TEST_CASE("a second kernel of the same name changes the row of the first") {
  code_scene s;
  s.load("4", sass::ffma);
  REQUIRE(s.after({4}).size() == 1);
  s.load("4", sass::dfma);
  auto const changed = s.after({});
  REQUIRE(changed.size() == 1);
  CHECK(code_of(changed[0]).holds == (fp32 | fp64));
}
