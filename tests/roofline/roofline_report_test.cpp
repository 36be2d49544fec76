#include "report/roofline_report.hpp"

#include "report/label_room.hpp"
#include "roofline/counted_trace.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <limits>

using namespace gpuprof;
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
  report::write_csv(report::roofline_csv_table(rows, roofline_lines::kernels), {},
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

TEST_CASE("what was not measured is an empty field, and null in JSON") {
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

TEST_CASE("JSON of no lines is valid") {
  std::string json;
  report::write_roofline_json({}, roofline_lines::ranges, {},
                              [&](std::string_view piece) { json += piece; });
  CHECK(nlohmann::json::parse(json)["ranges"].empty());
}

TEST_CASE("names cannot break the chart") {
  auto const text = svg({row_at("a<b>&\"c\"\x01\xFF", 1e12, 10)}, {});
  CHECK(holds(text, "a&lt;b&gt;&amp;&quot;c&quot; \xEF\xBF\xBD"));
  CHECK_FALSE(holds(text, "a<b>"));
}

TEST_CASE("a chart of nothing, of extremes and of equal points is still a chart") {
  CHECK(svg({}, {}).ends_with("</svg>\n"));
  CHECK_FALSE(holds(svg({row_at("k", 1e-3, 1e-9), row_at("l", 1e18, 1e12)}, {}), "nan"));
  CHECK_FALSE(holds(svg({row_at("k", 1e-3, 1e-9), row_at("l", 1e18, 1e12)}, {}), "inf"));
  constexpr auto infinite = std::numeric_limits<double>::infinity();
  CHECK_FALSE(holds(svg({row_at("k", 1e12, infinite), row_at("l", infinite, 1)}, {}), "inf"));
  std::vector<roofline_row> const same(20, row_at("same", 5e12, 5));
  CHECK(holds(svg(same, {}), "<circle"));
}

TEST_CASE("labels lie on no point and on no other label, and stay inside") {
  report::label_room room({0, 0, 300, 200});
  std::vector<report::box> places;
  for (int i = 0; i < 12; ++i) {
    report::point const centre{150.0 + i, 100.0};
    room.take({centre.x - 5, 95, centre.x + 5, 105});
    auto const found = room.take_beside(centre, 5, 80, 15);
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

TEST_CASE("a label leaves a line to the other side when there is room") {
  report::label_room room({0, 0, 300, 200});
  room.avoid_along({155, 0}, {155, 200});  // right of the point
  auto const found = room.take_beside({150, 100}, 3, 60, 15);
  REQUIRE(found);
  CHECK(found->place.x1 < 150);
}

TEST_CASE("lines without FLOP or DRAM bytes have no place, and the chart says how many") {
  roofline_row unknown;
  unknown.name = "unknown";
  CHECK(holds(svg({row_at("k", 1e12, 10), unknown}, {}), ">1 kernel without a place here:<"));
}
