// SPDX-License-Identifier: Apache-2.0
// A file of format 1.0, written once and stored: every later reader must find in it what is listed
// here.
#include "support/catch.hpp"
#include "support/test_data.hpp"
#include "unit/capture/rows.hpp"

#include <bit>

using namespace gpuprof;
using namespace gpuprof::capture;
using namespace gpuprof::capture::test;

namespace {

std::string const stored_path = test_data("capture_v1.gpuprof");
constexpr std::uint64_t rows_each = 40;

// Columns differ from each other and take every transform; the rule is plain arithmetic, so that it
// gives the same everywhere and for ever.
std::uint64_t expected_value(std::size_t place, std::uint64_t i, std::uint64_t before) {
  switch (place % 5) {
    case 0:
      return before + 2500 + i * i % 31;
    case 1:
      return i * i * 7919 % 251;
    case 2:
      return before + 3;
    case 3:
      return before;
    default:
      return i % 7 == 0 ? ~(i << 40) : i;
  }
}

/// The stored capture has the columns and tables of version 1.0.
bool is_later_column(std::string_view table, std::string_view column) {
  return (table == "shape" && column == "shared_bytes_unknown") || column == "stack" ||
         (table != "kernel" && column == "time_of");
}
template <class Row>
constexpr bool is_later_table =
    std::is_same_v<Row, stack_record> || std::is_same_v<Row, thread_sample_record> ||
    std::is_same_v<Row, source_line_record> || std::is_same_v<Row, binary_record>;

template <class Row>
std::vector<Row> expected_rows() {
  std::vector<Row> rows(rows_each);
  auto const& layout = layout_of<Row>();
  for (std::size_t place = 0; place < layout.columns.size(); ++place) {
    if (is_later_column(layout.name, layout.columns[place].name)) continue;
    std::uint64_t value = 1'000'000 * (place + 1) + layout.number;
    std::vector<std::uint64_t> stored(rows_each);
    for (std::uint64_t i = 0; i < rows_each; ++i) {
      value = expected_value(place, i, value);
      stored[i] = value;
      if (layout.columns[place].type == value_type::boolean) stored[i] = value % 2;
      if (layout.columns[place].type == value_type::f64) {
        stored[i] = std::bit_cast<std::uint64_t>(static_cast<double>(value));
      }
    }
    scatter(stored, layout.columns[place], reinterpret_cast<std::byte*>(rows.data()), sizeof(Row));
  }
  return rows;
}

std::string expected_text(std::uint32_t id) {
  return id % 4 == 0 ? std::string{} : "text " + std::to_string(id) + std::string(id, '.');
}

template <class Row>
constexpr bool is_data = !std::is_same_v<Row, schema_row> && !std::is_same_v<Row, name_row> &&
                         !std::is_same_v<Row, end_row>;

}  // namespace

TEST_CASE("the stored capture of format 1.0 reads exactly") {
  auto in = reader::open(stored_path);
  REQUIRE(in);
  CHECK(in->is_complete());
  for (std::uint32_t id = 1; id <= rows_each; ++id) {
    CHECK(in->text(name_id{id}) == expected_text(id));
  }
  auto const check = [&]<class Row>(std::type_identity<Row>) {
    if constexpr (is_data<Row>) {
      INFO(table<Row>::name);
      CHECK(same(all<Row>(*in), is_later_table<Row> ? std::vector<Row>{} : expected_rows<Row>()));
    }
  };
  for_every_table(check);
  CHECK(in->warnings().empty());
}

// How the file was made. A format that needs it made anew is a new major version with a new file.
// When a column is appended to a table, expect its default here for this file.
TEST_CASE("write the compatibility file", "[.write_compatibility_file]") {
  auto out = writer::create(stored_path, create_mode::fail_if_exists);
  REQUIRE(out);
  for (std::uint32_t id = 1; id <= rows_each; ++id) {
    (*out)->add_name(name_id{id}, expected_text(id));
  }
  auto const add = [&]<class Row>(std::type_identity<Row>) {
    if constexpr (is_data<Row>) {
      auto const rows = expected_rows<Row>();
      (*out)->add(std::span<Row const>{rows}.first(rows_each / 2));
      REQUIRE((*out)->flush());
      (*out)->add(std::span<Row const>{rows}.subspan(rows_each / 2));
    }
  };
  for_every_table(add);
  REQUIRE((*out)->close());
}
