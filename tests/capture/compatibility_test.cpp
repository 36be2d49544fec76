// A file of format 1.0, written once and stored: every later reader must find in it what is listed
// here.
#include "capture/rows.hpp"
#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::capture;
using namespace gpuprof::capture::test;

namespace {

constexpr auto stored_path = GPUPROF_TEST_DATA "/capture_v1.gpuprof";
constexpr std::uint64_t rows_each = 40;

// Columns differ from each other and take every transform; the rule is plain arithmetic, so that it
// gives the same everywhere and for ever.
template <class Row>
std::vector<Row> expected_rows() {
  std::vector<Row> rows(rows_each);
  for_each_column<Row>([&](std::size_t place, auto access) {
    std::uint64_t value = 1'000'000 * (place + 1) + table<Row>::number;
    for (std::uint64_t i = 0; i < rows_each; ++i) {
      switch (place % 5) {
        case 0:
          value += 2500 + i * i % 31;
          break;
        case 1:
          value = i * i * 7919 % 251;
          break;
        case 2:
          value += 3;
          break;
        case 3:
          break;  // constant
        case 4:
          value = i % 7 == 0 ? ~(i << 40) : i;
          break;
      }
      using column = std::remove_reference_t<decltype(access(rows[i]))>;
      if constexpr (std::is_same_v<column, bool>) {
        access(rows[i]) = value % 2 == 1;
      } else {
        access(rows[i]) = static_cast<column>(value);
      }
    }
  });
  return rows;
}

std::string expected_text(std::uint32_t id) {
  return id % 4 == 0 ? std::string{} : "text " + std::to_string(id) + std::string(id, '.');
}

template <class Row>
constexpr bool is_data = !has_text<Row> && !std::is_same_v<Row, end_row>;

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
      CHECK(same(all<Row>(*in), expected_rows<Row>()));
    }
  };
  std::apply([&](auto... types) { (check(types), ...); }, row_types{});
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
  std::apply([&](auto... types) { (add(types), ...); }, row_types{});
  REQUIRE((*out)->close());
}
