// SPDX-License-Identifier: Apache-2.0
// Kernel shapes: one number for each distinct one, the same number for equal ones.
#include "guest/collect/shape_table.hpp"

#include "support/catch.hpp"

#include <functional>
#include <set>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

kernel_shape shape_named(std::uint32_t name) {
  kernel_shape s;
  s.name = static_cast<name_id>(name);
  s.grid = {1, 1, 1};
  s.block = {32, 1, 1};
  return s;
}

}  // namespace

TEST_CASE("equal shapes get the same number, and only the first is new") {
  shape_table table;
  auto const first = table.intern(shape_named(1));
  auto const again = table.intern(shape_named(1));
  CHECK(first.is_new);
  CHECK_FALSE(again.is_new);
  CHECK(first.id == again.id);
  CHECK(raw(first.id) != 0);
  CHECK(table.at(first.id).name == name_id{1});
  CHECK(table.at(first.id).id == first.id);
}

TEST_CASE("the id given with a shape is ignored") {
  shape_table table;
  auto wanted = shape_named(1);
  auto const first = table.intern(wanted);
  wanted.id = shape_id{99};
  CHECK(table.intern(wanted).id == first.id);
}

TEST_CASE("a difference in any field makes another shape") {
  std::vector<std::function<void(kernel_shape&)>> const changes = {
      [](kernel_shape& s) { s.name = name_id{2}; },
      [](kernel_shape& s) { s.grid.x = 2; },
      [](kernel_shape& s) { s.grid.y = 2; },
      [](kernel_shape& s) { s.grid.z = 2; },
      [](kernel_shape& s) { s.block.x = 2; },
      [](kernel_shape& s) { s.block.y = 2; },
      [](kernel_shape& s) { s.block.z = 2; },
      [](kernel_shape& s) { s.cluster.x = 2; },
      [](kernel_shape& s) { s.cluster.y = 2; },
      [](kernel_shape& s) { s.cluster.z = 2; },
      [](kernel_shape& s) { s.registers_per_thread = 2; },
      [](kernel_shape& s) { s.static_shared_bytes = 2; },
      [](kernel_shape& s) { s.dynamic_shared_bytes = 2; },
      [](kernel_shape& s) { s.local_bytes_per_thread = 2; },
      [](kernel_shape& s) { s.local_bytes_total = 2; },
      [](kernel_shape& s) { s.launch_type = 2; },
      [](kernel_shape& s) { s.max_active_clusters = 2; },
  };
  shape_table table;
  std::set<std::uint32_t> ids{raw(table.intern(shape_named(1)).id)};
  for (auto const& change : changes) {
    auto other = shape_named(1);
    change(other);
    auto const made = table.intern(other);
    CHECK(made.is_new);
    ids.insert(raw(made.id));
  }
  CHECK(ids.size() == changes.size() + 1);
}

TEST_CASE("numbers stay the same while the table grows") {
  shape_table table;
  for (std::uint32_t n = 1; n <= 20000; ++n) REQUIRE(raw(table.intern(shape_named(n)).id) == n);
  for (std::uint32_t n = 1; n <= 20000; ++n) REQUIRE(raw(table.intern(shape_named(n)).id) == n);
  CHECK(table.size() == 20001);
}

TEST_CASE(
    "a full table keeps only the name of new shapes, once for each name, and finds old shapes") {
  shape_table table(3, 2);
  for (std::uint32_t n = 1; n <= 3; ++n) CHECK(table.intern(shape_named(n)).is_new);
  auto larger = shape_named(2);
  larger.grid.x = 7;
  auto const name_only = table.intern(larger);
  CHECK(name_only.is_new);
  REQUIRE(raw(name_only.id) != 0);
  auto const& kept = table.at(name_only.id);
  CHECK(kept.name == name_id{2});
  CHECK_FALSE(kept.has_geometry());
  CHECK(kept.block == extent3{});
  CHECK(kept.arguments == arguments_of_many_values);
  larger.grid.x = 8;
  CHECK(table.intern(larger).id == name_only.id);
  CHECK_FALSE(table.intern(larger).is_new);
  CHECK(table.intern(shape_named(2)).id == shape_id{2});
  CHECK(table.at(shape_id{2}).has_geometry());
}

TEST_CASE("a full table returns no number if the whole shape is required") {
  shape_table table(1, 2);
  table.intern(shape_named(1));
  CHECK(table.intern_whole(shape_named(1)).id == shape_id{1});
  CHECK(table.intern_whole(shape_named(2)).id == shape_id{});
  CHECK(table.size() == 2);
}

TEST_CASE("more names than a full table can keep become unknown") {
  shape_table table(1, 2);
  for (std::uint32_t n = 1; n <= 3; ++n) CHECK(raw(table.intern(shape_named(n)).id) != 0);
  auto const refused = table.intern(shape_named(4));
  CHECK(refused.id == shape_id{});
  CHECK_FALSE(refused.is_new);
  CHECK(table.size() == 4);
}
