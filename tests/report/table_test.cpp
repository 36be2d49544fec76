#include "report/table.hpp"

#include "base/json_text.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <limits>

using namespace gpuprof::report;

namespace {

table table_of(std::vector<column> columns, std::vector<row> rows) {
  return {"t", "T", std::move(columns), [rows](std::function<void(row const&)> const& take) {
            for (auto const& cells : rows) take(cells);
          }};
}

template <class Write>
std::string written(Write write, table const& t, time_unit unit = time_unit::nanoseconds) {
  std::string out;
  write(t, unit, [&](std::string_view piece) { out += piece; });
  return out;
}

std::string cell_text(cell const& value, column_kind kind,
                      time_unit unit = time_unit::nanoseconds) {
  std::string out;
  append_cell(out, value, kind, unit);
  return out;
}

}  // namespace

TEST_CASE("numbers have the digits that nsys gives them") {
  CHECK(cell_text(std::int64_t{1234567}, column_kind::integer) == "1234567");
  CHECK(cell_text(66.6666, column_kind::share) == "66.7");
  CHECK(cell_text(std::int64_t{1500}, column_kind::time) == "1500");
  CHECK(cell_text(70.7107, column_kind::mean_time) == "70.7");
  CHECK(cell_text(0.0, column_kind::mean_time) == "0.0");
  CHECK(cell_text(std::int64_t{1'048'576}, column_kind::size) == "1.049");
  CHECK(cell_text(2.5e9, column_kind::throughput) == "2500.000");
  CHECK(cell_text(0.1 + 0.2, column_kind::number) == "0.30000000000000004");
  CHECK(cell_text(2.5e-6, column_kind::number) == "2.5e-06");
  CHECK(cell_text(std::int64_t{7}, column_kind::number) == "7");
  CHECK(cell_text(cell{}, column_kind::time).empty());
  CHECK(cell_text(std::numeric_limits<double>::quiet_NaN(), column_kind::share).empty());
}

TEST_CASE("another unit of time shows in the header and keeps whole nanoseconds visible") {
  column const total{"Total Time", column_kind::time};
  CHECK(header_of(total, time_unit::nanoseconds) == "Total Time (ns)");
  CHECK(header_of(total, time_unit::seconds) == "Total Time (s)");
  CHECK(cell_text(std::int64_t{1'234'567}, column_kind::time, time_unit::microseconds) ==
        "1234.567");
  CHECK(cell_text(std::int64_t{1'234'567}, column_kind::time, time_unit::milliseconds) ==
        "1.234567");
  CHECK(cell_text(std::int64_t{1'234'567}, column_kind::time, time_unit::seconds) == "0.001234567");
  CHECK(cell_text(1500.5, column_kind::mean_time, time_unit::microseconds) == "1.500");
}

TEST_CASE(
    "the column format aligns numbers to the right, text to the left, headers in the middle") {
  auto const t =
      table_of({{"Time", column_kind::share}, {"Total Time", column_kind::time}, {"Name"}},
               {{99.5, std::int64_t{1234567}, std::string_view("gemm(int)")},
                {0.5, std::int64_t{-6789}, std::string_view("x")}});
  CHECK(written(write_columns, t) ==
        " Time (%)  Total Time (ns)    Name\n"
        " --------  ---------------  ---------\n"
        "     99.5        1,234,567  gemm(int)\n"
        "      0.5           -6,789  x\n");
}

TEST_CASE("names with line breaks or accents keep the columns straight") {
  auto const t = table_of({{"Name"}, {"N", column_kind::integer}},
                          {{std::string_view("a\nb"), std::int64_t{1}},
                           {std::string_view("\xC3\xA9t\xC3\xA9s"), std::int64_t{2}}});
  CHECK(written(write_columns, t) ==
        " Name  N\n"
        " ----  -\n"
        " a b   1\n"
        " \xC3\xA9t\xC3\xA9s  2\n");
}

TEST_CASE("CSV quotes only what needs it") {
  auto const t = table_of({{"Name"}, {"Total Time", column_kind::time}},
                          {{std::string_view("f(int, float)"), std::int64_t{1234567}},
                           {std::string_view("say \"hi\""), std::int64_t{2}},
                           {std::string_view("two\nlines"), cell{}},
                           {std::string_view(""), std::int64_t{3}}});
  CHECK(written(write_csv, t) ==
        "Name,Total Time (ns)\n"
        "\"f(int, float)\",1234567\n"
        "\"say \"\"hi\"\"\",2\n"
        "\"two\nlines\",\n"
        ",3\n");
}

TEST_CASE("JSON is an array of objects whose keys are the CSV headers") {
  auto const t =
      table_of({{"Name"}, {"Total Time", column_kind::time}, {"Avg", column_kind::mean_time}},
               {{std::string_view("a \"b\" \\ \t\n\x01"), std::int64_t{5}, 2.5},
                {std::string_view("c"), cell{}, 1.0}});
  auto const parsed = nlohmann::json::parse(written(write_json, t));
  REQUIRE(parsed.size() == 2);
  CHECK(parsed[0]["Name"] == "a \"b\" \\ \t\n\x01");
  CHECK(parsed[0]["Total Time (ns)"] == 5);
  CHECK(parsed[0]["Avg (ns)"] == 2.5);
  CHECK(parsed[1]["Total Time (ns)"].is_null());
}

TEST_CASE("JSON of no rows is an empty array") {
  CHECK(nlohmann::json::parse(written(write_json, table_of({{"Name"}}, {}))) ==
        nlohmann::json::array());
}

TEST_CASE("names that are not UTF-8 still give valid JSON") {
  for (std::string const bad : {"\xFF", "a\xC3", "\xE2\x82", "\xC0\xAF", "\xED\xA0\x80",
                                "\xF4\x90\x80\x80", "\x80", "\xF0\x80\x80\x80"}) {
    std::string json;
    gpuprof::append_json_text(json, bad);
    INFO(json);
    CHECK(nlohmann::json::accept(json));
    CHECK(json.find("\xEF\xBF\xBD") != std::string::npos);
  }
  std::string json;
  gpuprof::append_json_text(json, "\xE2\x82\xAC \xF0\x9F\x99\x82");
  CHECK(json == "\"\xE2\x82\xAC \xF0\x9F\x99\x82\"");
}
