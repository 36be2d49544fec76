// SPDX-License-Identifier: Apache-2.0
#include "host/report/roofline_report.hpp"

#include "host/report/svg_canvas.hpp"
#include "support/catch.hpp"
#include "support/counted_trace.hpp"

#include <nlohmann/json.hpp>

#include <limits>

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;
using report::roofline_lines;

namespace {

std::string svg(std::vector<roofline_row> const& rows, report::roofline_facts const& facts) {
  std::string out;
  report::write_roofline_svg(rows, roofline_lines::kernels, facts,
                             [&](std::string_view piece) { out += piece; });
  return out;
}
std::string csv(std::vector<roofline_row> const& rows) {
  std::string out;
  text::write_csv(report::roofline_csv_table(rows, roofline_lines::kernels), {},
                  [&](std::string_view piece) { out += piece; });
  return out;
}
bool holds(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

roofline_row row_at(std::string const& name, double flops, double intensity) {
  roofline_row row;
  row.name = name;
  row.total_flops = flops;
  row.intensity = intensity;
  row.time_share = 0.1;
  return row;
}

}  // namespace

TEST_CASE("a figure that was not measured is an empty field, and null in JSON") {
  roofline_row row;
  row.name = "k";
  row.launches = 2;
  CHECK(holds(csv({row}), "\nk,2,0,0,0,,,not measured,0,,,"));
  std::string json;
  report::write_roofline_json(std::vector{row}, roofline_lines::kernels, {},
                              [&](std::string_view piece) { json += piece; });
  auto const parsed = nlohmann::json::parse(json);
  CHECK(parsed["kernels"][0]["flops"].is_null());
  CHECK(parsed["kernels"][0]["bound_by"].is_null());
  CHECK(parsed["kernels"][0]["flops_by_precision"].empty());
}

TEST_CASE("figures with an error above 5 % are marked in the table") {
  roofline_row sure, unsure;
  sure.name = unsure.name = "k";
  sure.dram_rate = unsure.dram_rate = 2e12;
  sure.occupancy = unsure.occupancy = 0.5;
  sure.clock = unsure.clock = 1.5e9;
  sure.dram_error = 9e10;
  unsure.dram_error = 11e10;
  unsure.occupancy_error = 0.04;
  unsure.clock_error = 1e7;
  auto const text = [](roofline_row const& line) {
    std::string out;
    text::write_columns(report::roofline_table(std::span(&line, 1), roofline_lines::kernels), {},
                        [&](std::string_view piece) { out += piece; });
    return out;
  };
  CHECK_FALSE(holds(text(sure), "~"));
  CHECK_FALSE(report::has_unsure_figures(std::span(&sure, 1)));
  CHECK(holds(text(unsure), " 2000~ "));
  CHECK(holds(text(unsure), " 50.0~ "));
  CHECK(holds(text(unsure), " 1500 "));
  CHECK(report::has_unsure_figures(std::span(&unsure, 1)));
}

TEST_CASE("an error above 20 % stands beside its figure") {
  roofline_row row;
  row.name = "k";
  row.total_flops = 41.6e12;
  row.total_flops_error = 20.8e12;
  row.dram_rate = 2e12;
  row.dram_error = 5e11;
  row.occupancy = 0.5;
  row.occupancy_error = 0.09;
  std::string out;
  text::write_columns(report::roofline_table(std::span(&row, 1), roofline_lines::kernels), {},
                      [&](std::string_view piece) { out += piece; });
  CHECK(holds(out, " 41.6 ±21 "));
  CHECK(holds(out, " 2000 ±500 "));
  CHECK(holds(out, " 50.0~ "));
}

TEST_CASE("CSV and JSON have the errors of rates, clock and shares at the end") {
  roofline_row row = row_at("k", 1e12, 10);
  row.total_flops_error = 3e10;
  row.flops_error[static_cast<std::size_t>(precision::tensor_bf16)] = 2e10;
  row.clock_error = 1e6;
  row.occupancy_error = 0.01;
  row.tensor_active_error = 0.02;
  row.known_share = 0.5;
  row.known.dram = 0.25;
  row.known.tensor = 1;
  row.read_by_ranks = {0, 3};
  auto const text = csv({row});
  CHECK(
      holds(text.substr(0, text.find('\n')) + "|",
            ",occupancy_error,tensor_active_error,flop_known_share,read_by_ranks,dram_known_share,"
            "l2_known_share,sm_clock_known_share,occupancy_known_share,tensor_known_share,"
            "flops_are_upper_limit,flops_low,flops_high,shapes,time_inferred_ns,time_error_ns|"));
  CHECK(text.ends_with(
      ",1000000,0.01,0.02,0.5,0 3,0.25,0,0,0,1,,970000000000,1030000000000,0,0,0\n"));
  std::string json;
  report::write_roofline_json(std::vector{row}, roofline_lines::kernels, {},
                              [&](std::string_view piece) { json += piece; });
  auto const line = nlohmann::json::parse(json)["kernels"][0];
  CHECK(line["flops_error"] == 3e10);
  CHECK(line["flops_by_precision_error"]["tensor_bf16"] == 2e10);
  CHECK(line["tensor_active_error"] == 0.02);
}

TEST_CASE("times that were taken from other launches of a graph have their error") {
  auto row = row_at("k", 1e12, 10);
  row.total_ns = 1e6;
  row.mean_ns = 1000;
  auto const shown = [](roofline_row const& of) { return report::roofline_text(of, "Avg (us)"); };
  CHECK(shown(row) == "1.00");
  row.inferred = {9e5, 1e5};
  CHECK(shown(row) == "1.00~");
  CHECK(report::has_unsure_figures(std::vector{row}));
  CHECK(csv({row}).ends_with(",900000,100000\n"));
  row.inferred.error_ns = 3e5;
  CHECK(shown(row) == "1.00 ±0.3");
  row.inferred.error_ns.reset();
  CHECK(shown(row) == "1.00~");
  CHECK(csv({row}).ends_with(",900000,\n"));
}

TEST_CASE("FLOP that are an upper limit are marked everywhere, and have their bounds") {
  auto row = row_at("k", 2e12, 10);
  row.flops_are_limit = true;
  row.total_flops_error = 1.5e12;
  row.total_flops_above = 2e11;
  auto const text = csv({row});
  CHECK(text.ends_with(",yes,500000000000,2200000000000,0,0,0\n"));
  std::string json, table;
  auto const to = [](std::string& out) { return [&out](std::string_view piece) { out += piece; }; };
  report::write_roofline_json(std::vector{row}, roofline_lines::kernels, {}, to(json));
  auto const line = nlohmann::json::parse(json)["kernels"][0];
  CHECK(line["flops_are_upper_limit"] == true);
  CHECK(line["flops_low"] == 5e11);
  CHECK(line["flops_high"] == 2.2e12);
  std::vector const rows{row};
  text::write_columns(report::roofline_table(rows, roofline_lines::kernels), {}, to(table));
  CHECK(holds(table, " <=2"));
  CHECK(holds(table, " <=10"));
  CHECK_FALSE(holds(table, "~"));
  CHECK(report::has_limits(rows));
  CHECK_FALSE(report::has_unsure_figures(rows));
  auto const chart = svg(rows, {});
  CHECK(holds(chart, "at most 2"));
  CHECK(holds(chart, "stroke-dasharray"));
  CHECK(holds(chart, "upper limit"));
  row.flops_are_limit = false;
  CHECK_FALSE(holds(svg({row}, {}), "upper limit"));
  CHECK_FALSE(holds(svg({row}, {}), "at most"));
}

TEST_CASE("JSON of no lines is valid") {
  std::string json;
  report::write_roofline_json({}, roofline_lines::ranges, {},
                              [&](std::string_view piece) { json += piece; });
  CHECK(nlohmann::json::parse(json)["ranges"].empty());
}

TEST_CASE("special characters in names do not break the chart") {
  auto const text = svg({row_at("a<b>&\"c\"\x01\xFF", 1e12, 10)}, {});
  CHECK(holds(text, "a&lt;b&gt;&amp;&quot;c&quot; \xEF\xBF\xBD"));
  CHECK_FALSE(holds(text, "a<b>"));
}

TEST_CASE("a chart without points, with extreme points or with equal points is still valid") {
  CHECK(svg({}, {}).ends_with("</svg>\n"));
  CHECK_FALSE(holds(svg({row_at("k", 1e-3, 1e-9), row_at("l", 1e18, 1e12)}, {}), "nan"));
  CHECK_FALSE(holds(svg({row_at("k", 1e-3, 1e-9), row_at("l", 1e18, 1e12)}, {}), "inf"));
  constexpr auto infinite = std::numeric_limits<double>::infinity();
  CHECK_FALSE(holds(svg({row_at("k", 1e12, infinite), row_at("l", infinite, 1)}, {}), "inf"));
  std::vector<roofline_row> const same(20, row_at("same", 5e12, 5));
  CHECK(holds(svg(same, {}), "<circle"));
}

TEST_CASE("labels overlap no point and no other label, and stay inside") {
  report::label_room room({0, 0, 300, 200});
  std::vector<report::box> places;
  for (int i = 0; i < 12; ++i) {
    report::point const center{150.0 + i, 100.0};
    room.take({center.x - 5, 95, center.x + 5, 105});
    auto const found = room.take_beside(center, 5, 80, 15);
    if (!found) continue;  // there is room for some only
    for (auto const& other : places) CHECK_FALSE(other.meets(found->place));
    CHECK(found->place.x0 >= 0);
    CHECK(found->place.x1 <= 300);
    CHECK(found->place.y0 >= 0);
    CHECK(found->place.y1 <= 200);
    CHECK_FALSE(room.is_free(found->place));
    places.push_back(found->place);
  }
  CHECK(places.size() >= 4);
  CHECK_FALSE(room.take_beside({150, 100}, 5, 301, 15));  // wider than the chart
}

TEST_CASE("a label moves to the other side of a line if there is room") {
  report::label_room room({0, 0, 300, 200});
  room.avoid_along({155, 0}, {155, 200});  // right of the point
  auto const found = room.take_beside({150, 100}, 3, 60, 15);
  REQUIRE(found);
  CHECK(found->place.x1 < 150);
}

TEST_CASE("lines without FLOP or DRAM bytes are not drawn, and the chart shows their number") {
  roofline_row unknown;
  unknown.name = "unknown";
  CHECK(holds(svg({row_at("k", 1e12, 10), unknown}, {}), ">1 kernel without a place here:<"));
}
