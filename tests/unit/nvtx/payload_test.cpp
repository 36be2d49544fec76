// SPDX-License-Identifier: Apache-2.0
// Extended payloads: layouts in, JSON out, and nothing bad whatever the bytes.
#include "guest/nvtx/payload.hpp"

#include "guest/nvtx/headers.hpp"
#include "guest/nvtx/payload_values.hpp"
#include "support/catch.hpp"

#include <cstring>
#include <limits>
#include <memory>

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

schema_entry entry(std::uint64_t type, char const* name, std::uint64_t flags = 0,
                   std::uint64_t detail = 0, std::uint64_t offset = 0) {
  return {flags, type, name, detail, offset};
}

payload_schema structure(std::vector<schema_entry> entries) {
  payload_schema schema;
  schema.entries = std::move(entries);
  return schema;
}

/// A fresh registry for each question.
struct payloads {
  std::unique_ptr<payload_schemas> schemas = std::make_unique<payload_schemas>();
  payload_surroundings around{};

  template <class T>
  payload_description describe(std::uint64_t schema, T const& value) const {
    payload_blob const blob{schema, std::as_bytes(std::span{&value, 1})};
    return describe_payloads({&blob, 1}, *schemas, around);
  }
  template <class T>
  std::string json(payload_schema schema, T const& value) const {
    return describe(schemas->add(std::move(schema)), value).json;
  }
};

std::string escaped(std::string_view text) {
  std::string out;
  append_json_text(out, text);
  return out;
}

}  // namespace

TEST_CASE("a struct becomes an object, padding left out") {
  struct {
    std::uint8_t flag = 7;
    std::int32_t count = -3;
    double ratio = 0.5;
    std::uint64_t bytes = 1ull << 40;
  } const value;
  CHECK(payloads{}.json(structure({entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "flag"),
                                   entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "count"),
                                   entry(NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "ratio"),
                                   entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "bytes")}),
                        value) == R"({"flag":7,"count":-3,"ratio":0.5,"bytes":1099511627776})");
}

TEST_CASE("packed structs and given offsets are followed; entries without name are numbered") {
  unsigned char const value[] = {1, 2, 0, 0, 0, 9};
  auto schema = structure({entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, ""),
                           entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "packed"),
                           entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "last", 0, 0, 5)});
  schema.pack_align = 1;
  CHECK(payloads{}.json(schema, value) == R"({"field0":1,"packed":2,"last":9})");
}

TEST_CASE("arrays: of fixed length, up to a zero, and with their length in another entry") {
  struct {
    std::uint32_t length = 2;
    std::uint16_t shape[3] = {4, 5, 6};
    std::int8_t until_zero[4] = {1, -1, 0, 9};
  } const value;
  CHECK(payloads{}.json(structure({entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "length"),
                                   entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT16, "fixed",
                                         NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, 3),
                                   entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT16, "counted",
                                         NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX, 0, 4),
                                   entry(NVTX_PAYLOAD_ENTRY_TYPE_INT8, "zero",
                                         NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED, 0, 10)}),
                        value) == R"({"length":2,"fixed":[4,5,6],"counted":[4,5],"zero":[1,-1]})");
}

TEST_CASE("a length in an entry that does not exist is not used") {
  std::uint32_t const value[] = {1, 2};
  for (auto const index : {std::uint64_t{1}, std::uint64_t{77}, ~std::uint64_t{0}}) {
    CHECK(payloads{}.json(structure({entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "n"),
                                     entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "v",
                                           NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX, index)}),
                          value) == R"({"n":1,"v":[]})");
  }
}

TEST_CASE("schemas can be nested, in entries and in arrays") {
  payloads p;
  auto const point = p.schemas->add(structure(
      {entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "x"), entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "y")}));
  std::int32_t const value[] = {1, 2, 3, 4, 5, 6};
  CHECK(p.json(structure({entry(point, "one"),
                          entry(point, "two", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, 2)}),
               value) == R"({"one":{"x":1,"y":2},"two":[{"x":3,"y":4},{"x":5,"y":6}]})");
}

TEST_CASE("enum values show their names, flags are joined, unknown values stay numbers") {
  payloads p;
  payload_schema mode;
  mode.what = payload_schema::kind::enumeration;
  mode.size = 1;
  mode.values = {{"sum", 1, false}, {"read", 2, true}, {"write", 4, true}};
  auto const id = p.schemas->add(mode);
  unsigned char const value[] = {1, 6, 8};
  CHECK(p.json(structure({entry(id, "a"), entry(id, "b"), entry(id, "c")}), value) ==
        R"({"a":"sum","b":"read|write","c":8})");
}

TEST_CASE("a union shows the member its selector names") {
  payloads p;
  auto both = structure({entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "number"),
                         entry(NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, "real")});
  both.what = payload_schema::kind::choice;
  auto const id = p.schemas->add(both);
  struct {
    std::int32_t selector;
    float real;
  } const value{1, 1.5f}, wrong{9, 0};
  auto const schema = structure({entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "which"), entry(id, "u")});
  CHECK(p.json(schema, value) == R"({"which":1,"u":{"real":1.5}})");
  CHECK(p.json(schema, wrong) == R"({"which":9,"u":null})");
}

TEST_CASE("strings: in the payload, behind a pointer, wide, and as the event's message") {
  payloads p;
  p.around.read_memory = [](std::uint64_t address, std::span<std::byte> into) {
    std::memcpy(into.data(), reinterpret_cast<void const*>(address), into.size());
    return true;
  };
  static char const outside[64] = "out \"there\"";
  struct {
    char name[8] = "gemm";
    char const* pointer = outside;
    char16_t wide[4] = {u'\u00e9', 0xd83d, 0xde00, 0};
  } const value;
  auto const id =
      p.schemas->add(structure({entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8, "name",
                                      NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, 8),
                                entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "pointer"),
                                entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16, "wide", 0, 4)}));
  auto const found = p.describe(id, value);
  CHECK(found.json ==
        "{\"name\":\"gemm\",\"pointer\":\"out \\\"there\\\"\",\"wide\":\"\u00e9\U0001F600\"}");
  CHECK(found.message == "gemm");
}

TEST_CASE("data behind a pointer is null if it cannot be read") {
  payloads p;
  p.around.read_memory = [](std::uint64_t, std::span<std::byte>) { return false; };
  void const* const value = &value;
  CHECK(p.json(structure({entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "s")}), value) == R"({"s":null})");
  CHECK(p.json(
            structure({entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "p", NVTX_PAYLOAD_ENTRY_FLAG_POINTER)}),
            value) == R"({"p":null})");
}

TEST_CASE("an array behind a pointer is read with the length its entry names") {
  payloads p;
  p.around.read_memory = [](std::uint64_t address, std::span<std::byte> into) {
    std::memcpy(into.data(), reinterpret_cast<void const*>(address), into.size());
    return true;
  };
  static float const numbers[] = {1, 2.5, -3};
  struct {
    std::uint64_t length = 3;
    float const* first = numbers;
  } const value;
  CHECK(p.json(structure({entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "n"),
                          entry(NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, "v",
                                NVTX_PAYLOAD_ENTRY_FLAG_POINTER |
                                    NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX)}),
               value) == R"({"n":3,"v":[1,2.5,-3]})");
}

TEST_CASE("small floats, addresses, colors and numbers that JSON does not have are written") {
  struct {
    std::uint16_t half = 0x3e00;    // 1.5
    std::uint16_t bfloat = 0xbf80;  // -1
    float infinite = std::numeric_limits<float>::infinity();
    std::uint32_t color = 0xff00aa00;
    std::uint32_t padding = 0;
    std::uint64_t address = 0xabc;
  } const value;
  CHECK(payloads{}.json(structure({entry(NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16, "h"),
                                   entry(NVTX_PAYLOAD_ENTRY_TYPE_BF16, "b"),
                                   entry(NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, "i"),
                                   entry(NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB, "c"),
                                   entry(NVTX_PAYLOAD_ENTRY_TYPE_ADDRESS, "a")}),
                        value) == R"({"h":1.5,"b":-1,"i":null,"c":"0xff00aa00","a":"0xabc"})");
}

TEST_CASE("a payload shorter than its schema has nulls for the rest") {
  std::int32_t const value = 5;
  CHECK(payloads{}.json(structure({entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "a"),
                                   entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "b"),
                                   entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "far", 0, 0, 1ull << 60)}),
                        value) == R"({"a":5,"b":null,"far":null})");
}

TEST_CASE("a schema within itself ends at the eighth level") {
  payloads p;
  auto self = structure({entry(NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 5, "me")});
  self.id = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 5;
  std::uint64_t const value[64] = {};
  auto const json = p.json(self, value);
  CHECK(json.find("null") != std::string::npos);
  CHECK(json.size() < 200);
}

TEST_CASE("an endless array is cut, and marked as cut") {
  std::vector<std::uint8_t> const many(100'000, 1);
  payloads p;
  auto const id = p.schemas->add(
      structure({entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "v", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE,
                       std::numeric_limits<std::uint64_t>::max()),
                 entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "after")}));
  payload_blob const blob{id, std::as_bytes(std::span(many))};
  auto const json = describe_payloads({&blob, 1}, *p.schemas, p.around).json;
  CHECK(json.size() < 1000);
  CHECK(json.ends_with(R"(,"after":null,"truncated":true})"));
}

TEST_CASE("unknown schemas and types are null, raw bytes are hex, single values have no name") {
  payloads p;
  unsigned char const raw_bytes[] = {0xde, 0xad};
  CHECK(p.describe(NVTX_TYPE_PAYLOAD_SCHEMA_RAW, raw_bytes).json == R"({"raw":"dead"})");
  CHECK(p.describe(NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED, raw_bytes).json.empty());
  CHECK(p.describe(NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 99, raw_bytes).json == "null");
  CHECK(p.describe(NVTX_PAYLOAD_ENTRY_TYPE_INT32, std::int32_t{-9}).json == "-9");
}

TEST_CASE("several payloads become an array") {
  payloads p;
  std::int32_t const a = 1, b = 2;
  payload_blob const blobs[] = {{NVTX_PAYLOAD_ENTRY_TYPE_INT32, std::as_bytes(std::span{&a, 1})},
                                {NVTX_PAYLOAD_ENTRY_TYPE_INT32, std::as_bytes(std::span{&b, 1})}};
  CHECK(describe_payloads(blobs, *p.schemas, p.around).json == "[1,2]");
}

TEST_CASE("a static schema id is valid in its domain, a dynamic one everywhere") {
  payload_schemas schemas;
  auto mine = structure({entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "a")});
  mine.domain = name_id{5};
  mine.id = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 1;
  CHECK(schemas.add(mine) == mine.id);
  mine.id = 0;
  auto const dynamic = schemas.add(mine);
  CHECK(dynamic >= NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);
  CHECK(schemas.find(name_id{5}, NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 1) != nullptr);
  CHECK(schemas.find(name_id{6}, NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 1) == nullptr);
  CHECK(schemas.find(name_id{6}, dynamic) != nullptr);
  CHECK(schemas.find(name_id{6}, dynamic + 1) == nullptr);
  for (std::size_t i = 2; i < payload_schemas::max_schemas; ++i) schemas.add(structure({}));
  CHECK(schemas.add(structure({})) == 0);
}

TEST_CASE("texts are escaped, and bytes that are not UTF-8 are replaced") {
  CHECK(escaped("a\"b\\c\n\x01") == R"("a\"b\\c\n\u0001")");
  CHECK(escaped("\xc3\xa9") == "\"\xc3\xa9\"");
  CHECK(escaped("\xff\xc3") == "\"\xef\xbf\xbd\xef\xbf\xbd\"");
  CHECK(escaped("\xc0\x80") == "\"\xef\xbf\xbd\xef\xbf\xbd\"");          // overlong
  CHECK(escaped("\xed\xa0\x80").find("\xed") == std::string::npos);      // surrogate
  CHECK(escaped("\xf4\x90\x80\x80").find("\xf4") == std::string::npos);  // beyond Unicode
}
