// SPDX-License-Identifier: Apache-2.0
// What is written is read back, for every table and every kind of number.
#include "support/catch.hpp"
#include "unit/capture/rows.hpp"

#include <limits>
#include <set>

using namespace gpuprof;
using namespace gpuprof::capture;
using namespace gpuprof::capture::test;

namespace {

template <class Row>
void check_round_trip(std::size_t count, unsigned seed) {
  scratch_file file;
  random_rows random{seed};
  auto const rows = random.rows<Row>(count);
  {
    auto out = writer::create(file.path(), create_mode::fail_if_exists);
    REQUIRE(out);
    (*out)->add(std::span<Row const>{rows});
    REQUIRE((*out)->close());
    CHECK((*out)->rows_lost() == 0);
  }
  auto in = reader::open(file.path());
  REQUIRE(in);
  CHECK(in->warnings().empty());
  CHECK(in->is_complete());
  std::size_t seen = 0;
  bool equal = true;
  in->for_each<Row>([&](std::span<Row const> some) {
    for (auto const& row : some) equal = equal && seen < count && same(row, rows[seen++]);
  });
  INFO(table<Row>::name);
  CHECK(equal);
  // The schema and the end mark are in every file.
  if constexpr (!std::is_same_v<Row, schema_row> && !std::is_same_v<Row, end_row>) {
    CHECK(seen == count);
    CHECK(in->row_count<Row>() == count);
  }
}

template <class Row>
std::size_t members_with_columns() {
  // extent3 is one member and three columns.
  std::size_t columns = 0;
  for (auto const& column : layout_of<Row>().columns) {
    if (!column.name.ends_with("_y") && !column.name.ends_with("_z")) ++columns;
  }
  return columns;
}

struct anything {
  template <class T>
  operator T() const;
};

template <class Row, std::size_t... I>
constexpr bool has_members(std::index_sequence<I...>) {
  return requires {
    Row{(static_cast<void>(I), anything{})...};
  };
}
template <class Row, std::size_t Count = 1>
constexpr std::size_t member_count() {
  if constexpr (has_members<Row>(std::make_index_sequence<Count + 1>{})) {
    return member_count<Row, Count + 1>();
  } else {
    return Count;
  }
}

}  // namespace

TEST_CASE("rows of every table are read as they were written") {
  auto const count = GENERATE(1, 2, 3, 5, 127, 128, 129, 3000);
  auto const seed = GENERATE(range(1u, 6u));
  auto const check = [&]<class Row>(std::type_identity<Row>) {
    if constexpr (!std::is_same_v<Row, schema_row> && !std::is_same_v<Row, end_row>) {
      check_round_trip<Row>(static_cast<std::size_t>(count), seed);
    }
  };
  for_every_table(check);
}

TEST_CASE("tables longer than a block are read completely and in order") {
  check_round_trip<kernel_record>(2 * block_rows + 17, 11);
  check_round_trip<name_row>(block_rows + 3, 12);
  check_round_trip<range_begin>(block_rows, 13);
}

TEST_CASE("every member of every record has its column") {
  auto const check = []<class Row>(std::type_identity<Row>) {
    INFO(table<Row>::name);
    CHECK(members_with_columns<Row>() == member_count<Row>());
  };
  for_every_table(check);
}

TEST_CASE("no two columns of a table hold the same member or have the same name") {
  for (auto const& table : all_tables()) {
    std::set<std::string_view> names;
    std::set<std::size_t> offsets;
    for (auto const& column : table.columns) {
      names.insert(column.name);
      offsets.insert(column.offset);
    }
    INFO(table.name);
    CHECK(names.size() == table.columns.size());
    CHECK(offsets.size() == table.columns.size());
    CHECK(table.columns.size() <= max_columns);
  }
}

TEST_CASE("table numbers are the places in the list of tables") {
  std::uint16_t expected = 0;
  for (auto const& table : all_tables()) CHECK(table.number == expected++);
}

TEST_CASE("the largest and smallest numbers are read as written") {
  scratch_file file;
  constexpr auto greatest = std::numeric_limits<std::uint64_t>::max();
  std::vector<kernel_record> kernels(6);
  std::vector<api_record> calls(6);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    kernels[i].start.value = i % 2 == 0 ? greatest : 0;
    kernels[i].duration.value = i % 2 == 0 ? std::numeric_limits<std::int64_t>::min()
                                           : std::numeric_limits<std::int64_t>::max();
    calls[i].result = i % 2 == 0 ? -1 : std::numeric_limits<std::int32_t>::min();
  }
  {
    auto out = writer::create(file.path(), create_mode::fail_if_exists);
    REQUIRE(out);
    (*out)->add(std::span<kernel_record const>{kernels});
    (*out)->add(std::span<api_record const>{calls});
  }
  auto in = reader::open(file.path());
  REQUIRE(in);
  CHECK(same(all<kernel_record>(*in), kernels));
  CHECK(same(all<api_record>(*in), calls));
}

TEST_CASE("only the wanted columns are filled in") {
  scratch_file file;
  random_rows random{5};
  auto const shapes = random.rows<kernel_shape>(50);
  {
    auto out = writer::create(file.path(), create_mode::fail_if_exists);
    REQUIRE(out);
    (*out)->add(std::span<kernel_shape const>{shapes});
  }
  auto in = reader::open(file.path());
  REQUIRE(in);
  auto const read = all<kernel_shape>(*in, only(&kernel_shape::grid, &kernel_shape::name));
  REQUIRE(read.size() == shapes.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    kernel_shape expected;
    expected.grid = shapes[i].grid;
    expected.name = shapes[i].name;
    CHECK(read[i] == expected);
  }
}

TEST_CASE("names are found by id, and unknown ids are empty") {
  scratch_file file;
  {
    auto out = writer::create(file.path(), create_mode::fail_if_exists);
    REQUIRE(out);
    (*out)->add_name(name_id{1}, "gemm");
    REQUIRE((*out)->flush());
    (*out)->add_name(name_id{7}, "");
    (*out)->add_name(name_id{4000000000u}, std::string(max_text_bytes + 5, 'x'));
  }
  auto in = reader::open(file.path());
  REQUIRE(in);
  CHECK(in->text(name_id{1}) == "gemm");
  CHECK(in->text(name_id{7}).empty());
  CHECK(in->text(name_id{0}).empty());
  CHECK(in->text(name_id{99}).empty());
  CHECK(in->text(name_id{4000000000u}) == std::string(max_text_bytes, 'x'));
}

TEST_CASE("names are in the file before the rows that were added after them") {
  scratch_file file;
  auto out = writer::create(file.path(), create_mode::fail_if_exists);
  REQUIRE(out);
  (*out)->add(fact_record{.key = name_id{1}, .value = name_id{2}});
  (*out)->add_name(name_id{1}, "host");
  (*out)->add_name(name_id{2}, "node17");
  // Enough rows of real noise to be cut and written without a flush.
  random_rows random{3};
  for (int i = 0; i < 8; ++i) {
    auto rows = random.rows<memory_record>(block_rows);
    std::mt19937_64 noise{static_cast<unsigned>(i)};
    for (auto& row : rows) row.address = noise();
    (*out)->add(std::span<memory_record const>{rows});
  }
  auto in = reader::open(file.path());
  REQUIRE(in);
  REQUIRE(in->row_count<memory_record>() > 0);
  auto const facts = all<fact_record>(*in);
  REQUIRE(facts.size() == 1);
  CHECK(in->text(facts[0].key) == "host");
  CHECK(in->text(facts[0].value) == "node17");
}

TEST_CASE("a file lists the tables and columns that it may hold") {
  scratch_file file;
  { REQUIRE(writer::create(file.path(), create_mode::fail_if_exists)); }
  auto in = reader::open(file.path());
  REQUIRE(in);
  std::vector<std::string> lines;
  in->for_each<schema_row>([&](std::span<schema_row const> rows) {
    for (auto const& row : rows) {
      if (row.table_name != "range_end") continue;
      lines.push_back(std::to_string(row.table) + "." + std::to_string(row.column) + " " +
                      std::string{row.column_name} + " " + std::string{row.type} +
                      (row.unit.empty() && row.refers_to.empty() ? "" : " ") +
                      std::string{row.unit} + (row.refers_to.empty() ? "" : " ") +
                      std::string{row.refers_to});
    }
  });
  // At its begin, and once more at its end.
  CHECK(lines == std::vector<std::string>{
                     "20.0 time u64 ns of CLOCK_REALTIME", "20.1 range u64  range_begin.range",
                     "20.2 thread u32  thread.thread", "20.0 time u64 ns of CLOCK_REALTIME",
                     "20.1 range u64  range_begin.range", "20.2 thread u32  thread.thread"});
}
