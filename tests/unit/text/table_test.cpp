// SPDX-License-Identifier: Apache-2.0
#include "text/table.hpp"

#include "base/utf8.hpp"
#include "support/catch.hpp"
#include "text/padding.hpp"

#include <nlohmann/json.hpp>

#include <limits>

using namespace gpuprof::text;

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

std::string on_page(page const& p, table const& t) {
  std::string out;
  write_columns(
      t, time_unit::nanoseconds, [&](std::string_view piece) { out += piece; }, p);
  return out;
}

std::string cell_text(cell const& value, column_kind kind,
                      time_unit unit = time_unit::nanoseconds) {
  std::string out;
  append_cell(out, value, kind, unit);
  return out;
}

}  // namespace

TEST_CASE("numbers have as many digits as in nsys") {
  CHECK(cell_text(std::int64_t{1234567}, column_kind::integer) == "1234567");
  CHECK(cell_text(66.6666, column_kind::share) == "66.7");
  CHECK(cell_text(std::int64_t{1500}, column_kind::time) == "1500");
  CHECK(cell_text(70.7107, column_kind::mean_time) == "70.7");
  CHECK(cell_text(0.0, column_kind::mean_time) == "0.0");
  CHECK(cell_text(-0.04, column_kind::share) == "0.0");
  CHECK(cell_text(-0.06, column_kind::share) == "-0.1");
  CHECK(cell_text(std::int64_t{1'048'576}, column_kind::size) == "1.049");
  CHECK(cell_text(2.5e9, column_kind::throughput) == "2500.000");
  CHECK(cell_text(0.1 + 0.2, column_kind::number) == "0.30000000000000004");
  CHECK(cell_text(2.5e-6, column_kind::number) == "2.5e-06");
  CHECK(cell_text(std::int64_t{7}, column_kind::number) == "7");
  CHECK(cell_text(cell{}, column_kind::time).empty());
  CHECK(cell_text(std::numeric_limits<double>::quiet_NaN(), column_kind::share).empty());
}

TEST_CASE("the line under the last name is not as long as the longest name") {
  auto const name = std::string(3000, 'n');
  auto const text = on_page({}, table_of({{"Calls", column_kind::integer}, {"Name"}},
                                         {{std::int64_t{1}, std::string_view(name)}}));
  CHECK(text.find(" -----  " + std::string(80, '-') + "\n") != std::string::npos);
  CHECK(text.find(name) != std::string::npos);
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

TEST_CASE("the column format aligns numbers to the right and text to the left, as their headings") {
  auto const t =
      table_of({{"Time", column_kind::share}, {"Total Time", column_kind::time}, {"Name"}},
               {{99.5, std::int64_t{1234567}, std::string_view("gemm(int)")},
                {0.5, std::int64_t{-6789}, std::string_view("x")}});
  CHECK(on_page({}, t) ==
        " Time (%)  Total Time (ns)  Name\n"
        " --------  ---------------  ---------\n"
        "     99.5        1,234,567  gemm(int)\n"
        "      0.5           -6,789  x\n");
}

TEST_CASE("names with line breaks or accents keep the columns straight") {
  auto const t = table_of({{"Name"}, {"N", column_kind::integer}},
                          {{std::string_view("a\nb"), std::int64_t{1}},
                           {std::string_view("\xC3\xA9t\xC3\xA9s"), std::int64_t{2}}});
  CHECK(on_page({}, t) ==
        " Name  N\n"
        " ----  -\n"
        " a b   1\n"
        " \xC3\xA9t\xC3\xA9s  2\n");
}

TEST_CASE("on a narrow page names are shortened in the middle, then columns are dropped in order") {
  std::string const name = "void first_half_of_it<float>::second_half_of_it(int)";
  auto const t = table_of({{"Time", column_kind::share},
                           {"Avg", column_kind::integer, 2},
                           {"StdDev", column_kind::integer, 1},
                           {"Name"}},
                          {{50.0, std::int64_t{1}, std::int64_t{2}, std::string_view(name)}});
  CHECK(on_page({.width = 200}, t) == on_page({}, t));
  CHECK(on_page({.width = 60}, t) ==
        " Time (%)  Avg  StdDev  Name\n"
        " --------  ---  ------  ------------------------------------\n"
        "     50.0    1       2  first_half_of_it<...econd_half_of_it\n");
  CHECK(on_page({.width = 45}, t) ==
        " Time (%)  Avg  Name\n"
        " --------  ---  -----------------------------\n"
        "     50.0    1  first_half_of...nd_half_of_it\n"
        " no room for StdDev; --wide shows all\n");
  CHECK(on_page({.width = 10}, t) ==
        " Time (%)  Name\n"
        " --------  ------------------------\n"
        "     50.0  first_half_...half_of_it\n"
        " no room\n    for\n    StdDev,\n    Avg;\n    --wide\n    shows\n    all\n");
}

TEST_CASE("columns that distinguish rows stay on a narrow page, and others are dropped first") {
  auto const t =
      table_of({{"Launches", column_kind::integer},
                {"Metric", {}, never_left_out},
                {"Name", {}, never_left_out},
                {"Shared", {}, 1}},
               {{std::int64_t{3}, std::string_view("sm__inst_executed_pipe_tensor_op_hmma.sum"),
                 std::string_view("short"), std::string_view("yes")}});
  CHECK(on_page({.width = 44}, t) ==
        " Launches  Metric                      Name\n"
        " --------  --------------------------  -----\n"
        "        3  sm__inst_exe...op_hmma.sum  short\n"
        " no room for Shared; --wide shows all\n");
}

TEST_CASE("names that begin and end alike are shortened so that they differ") {
  std::string const begin = "void at::native::vectorized_elementwise_kernel<4, at::native::";
  std::string const end = "Functor<float>, std::array<char*, 3ul> >(int, float)";
  auto const shown = shortened_apart({begin + "Add" + end, begin + "Mul" + end, "short"}, 40);
  REQUIRE(shown.size() == 2);
  CHECK(shown.at(begin + "Add" + end) == "vectorized_elementw...ddFunctor<float> >");
  CHECK(shown.at(begin + "Mul" + end) == "vectorized_elementw...ulFunctor<float> >");
  CHECK(shortened_apart({begin + "Add" + end, "a" + begin}, 60).at(begin + "Add" + end) ==
        "vectorized_elementwise_kernel<4, AddFunctor<float> >");
  for (auto const& [whole, text] : shown) CHECK(width_of(text) <= 40);
}

TEST_CASE("names lose what tells them apart from no other name, unless it does") {
  std::string const sum = "void at::native::(anonymous namespace)::reduce<float>(float*, long)";
  CHECK(shortened_apart({sum}, 40).at(sum) == "reduce<float>");
  std::string const other = "void at::native::(anonymous namespace)::reduce<float>(float*, int)";
  auto const both = shortened_apart({sum, other}, 50);
  CHECK(both.at(sum) != both.at(other));
  CHECK(both.at(sum).starts_with("void at::native"));
  std::string const prose =
      "The GPU idles while the CPU does something else (for a very long time)";
  CHECK(shortened_apart({prose}, 40).at(prose) == shortened(prose, 40));
  std::string const broken =
      "f<, array<char*, 2ul, a long name that is cut off here<<<<<<<<<<<<<<<";
  CHECK(width_of(shortened_apart({broken}, 40).at(broken)) <= 40);
}

TEST_CASE("names that differ in one character are shortened so that they differ") {
  std::string const name(100, 'x');
  for (std::size_t width : {24, 40, 41, 60, 90})
    for (std::size_t at = 0; at < name.size(); ++at) {
      auto a = name, b = name;
      a[at] = 'A';
      b[at] = 'B';
      auto const shown = shortened_apart({a, b}, width);
      INFO("width " << width << ", differs at " << at << ": " << shown.at(a));
      CHECK(shown.at(a) != shown.at(b));
      CHECK(width_of(shown.at(a)) <= width);
    }
}

TEST_CASE("prose is wrapped at spaces") {
  CHECK(wrapped("one two three", 0) == "one two three");
  CHECK(wrapped("one two three", 13) == "one two three");
  CHECK(wrapped("one two three", 8, 2) == "one two\n  three");
  CHECK(wrapped("  one two", 6) == "  one\ntwo");
  CHECK(wrapped("verylongword x", 4, 1) == "verylongword\n x");
}

TEST_CASE("text is shortened by characters, not bytes") {
  CHECK(shortened("abcdefghij", 10) == "abcdefghij");
  CHECK(shortened("abcdefghij", 8) == "abc...ij");
  CHECK(shortened("\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", 6) ==
        "\xC3\xA9\xC3\xA9...\xC3\xA9");
  CHECK(shortened("abcdef", 3) == "abcdef");
}

TEST_CASE("headings are bold if the page supports it") {
  auto const t = table_of({{"Name"}}, {{std::string_view("x")}});
  CHECK(on_page({.bold_headings = true}, t) == "\x1b[1m Name\x1b[0m\n ----\n x\n");
}

TEST_CASE("the first rows of a table are followed by the number of the others") {
  std::vector<row> rows;
  for (std::int64_t i = 0; i < 30; ++i) rows.push_back({i});
  auto const t = table_of({{"N", column_kind::integer}}, rows);
  auto const left_out = std::make_shared<std::size_t>(0);
  auto const shown = written(write_csv, first_rows(t, 3, left_out));
  CHECK(shown == "N\n0\n1\n2\n");
  CHECK(*left_out == 27);
  CHECK(written(write_csv, first_rows(t, 30, left_out)) == written(write_csv, t));
  CHECK(*left_out == 0);
}

TEST_CASE("CSV quotes only fields that need it") {
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
