// SPDX-License-Identifier: Apache-2.0
#include "host/report/fields.hpp"

#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

using namespace gpuprof;
using namespace gpuprof::host::report;

namespace {

struct line {
  std::string name;
  std::optional<double> rate;
  bool is_shared;
};

std::vector<field<line>> made_fields() {
  using enum text::column_kind;
  return {{"name", "name", text::column_kind::text, [](line const& l) { return l.name; }},
          {"fp32", "flops.fp32", number, [](line const& l) { return known(l.rate); }, true},
          {"fp16", "flops.fp16", number, [](line const&) { return field_value(); }, true},
          {"from", "sources.dram", text::column_kind::text, [](line const& l) { return l.name; }},
          {"rate", "rate", number, [](line const& l) { return known(l.rate); }},
          {"shared", "shared", text::column_kind::text, [](line const& l) { return l.is_shared; }},
          {"grid", "", text::column_kind::text,
           [](line const&) {
             return written_value{"8 1", "[8, 1]"};
           }},
          {"", "ranks", text::column_kind::text,
           [](line const&) {
             return written_value{"0 1", "[0, 1]"};
           }},
          {"count", "last.count", integer, [](line const&) { return std::uint64_t{7}; }}};
}

nlohmann::json object_of(line const& of) {
  std::string text;
  append_object(text, made_fields(), of);
  return nlohmann::json::parse(text);
}

}  // namespace

TEST_CASE("one table of fields writes rows and objects") {
  std::vector<line> const lines = {{"a \"b\"", 1.5, true}, {"", std::nullopt, false}};
  std::string csv;
  text::write_csv(table_of_fields("t", "T", made_fields(), std::span<line const>(lines)), {},
                  [&](std::string_view part) { csv += part; });
  CHECK(csv ==
        "name,fp32,fp16,from,rate,shared,grid,count\n"
        "\"a \"\"b\"\"\",1.5,,\"a \"\"b\"\"\",1.5,yes,8 1,7\n"
        ",,,,,,8 1,7\n");
  CHECK(object_of(lines[0]) == nlohmann::json::parse(R"({"name": "a \"b\"", "flops": {"fp32": 1.5},
    "sources": {"dram": "a \"b\""}, "rate": 1.5, "shared": true, "ranks": [0, 1], "last": {"count": 7}})"));
}

TEST_CASE("an unknown figure is null, or left out of an inner object") {
  auto const all = object_of({"a", std::nullopt, false});
  CHECK(all.at("rate").is_null());
  CHECK(all.at("flops").empty());
  CHECK(object_of({"a", std::nan(""), false}).at("rate").is_null());
}
