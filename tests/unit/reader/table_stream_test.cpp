// SPDX-License-Identifier: Apache-2.0
// gpuprof_open_table(): each value of each table as the reader of rows has it, and what is wrong
// in one line.
#include "capture/column_notes.hpp"
#include "host/reading/exported_columns.hpp"
#include "host/reading/exported_names.hpp"
#include "support/test_data.hpp"
#include "unit/capture/sample.hpp"
#include "unit/reader/imported_table.hpp"

#include <cerrno>
#include <tuple>

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

std::vector<std::string> const stored_captures{
    "h200/counted_auto.gpuprof", "h200/mixed_exact.gpuprof", "h200/mixed_sampled.gpuprof",
    "h100/ddp.rank1.gpuprof", "capture_v1.gpuprof"};

/// As imported_table writes it.
std::string written(exported_column const& column, std::uint64_t bits, exported_names& names) {
  using content = exported_column::content;
  if (column.holds == content::text_of_name) return names.text(static_cast<name_id>(bits));
  if (column.holds == content::kernel_of_shape)
    return names.kernel_of(static_cast<shape_id>(bits)).demangled;
  switch (column.source->type) {
    case capture::value_type::f64:
      return "bits " + std::to_string(bits);
    case capture::value_type::i32:
    case capture::value_type::i64:
      return std::to_string(static_cast<std::int64_t>(bits));
    case capture::value_type::u64:
      if (!column.unit.empty()) return std::to_string(static_cast<std::int64_t>(bits));
      [[fallthrough]];
    default:
      return std::to_string(bits);
  }
}

template <class Row>
std::vector<std::vector<std::string>> rows_of(trace_contents& trace, exported_names& names) {
  auto const& layout = capture::layout_of<Row>();
  auto const columns = exported_columns(layout);
  std::vector<std::vector<std::string>> all;
  trace.file().for_each<Row>([&](std::span<Row const> rows) {
    for (auto const& row : rows) {
      std::vector<std::string> values;
      for (auto const& column : columns) {
        std::uint64_t bits = 0;
        capture::gather(*column.source, reinterpret_cast<std::byte const*>(&row), sizeof row,
                        {&bits, 1});
        values.push_back(written(column, bits, names));
      }
      all.push_back(std::move(values));
    }
  });
  return all;
}

/// Returns how many rows were compared.
template <class Row>
std::size_t compare_table(std::string const& path, trace_contents& trace, exported_names& names) {
  auto const& layout = capture::layout_of<Row>();
  if (!is_exported(layout)) return 0;
  INFO("table " << layout.name);
  auto const found = imported(path, std::string(layout.name));
  CHECK(found.code == 0);
  CHECK(found.rows == rows_of<Row>(trace, names));
  return found.rows.size();
}

template <class... Rows>
std::size_t compare_tables(std::string const& path, std::type_identity<std::tuple<Rows...>>) {
  auto file = capture::reader::open(path);
  REQUIRE(file);
  trace_contents trace(std::move(*file));
  exported_names names(trace);
  return (compare_table<Rows>(path, trace, names) + ...);
}

template <class... Rows>
bool defaults_are_zero(std::type_identity<std::tuple<Rows...>>) {
  auto const of_row = []<class Row>(std::type_identity<Row>) {
    Row const row{};
    for (auto const& column : capture::layout_of<Row>().columns) {
      std::uint64_t bits = 0;
      capture::gather(column, reinterpret_cast<std::byte const*>(&row), sizeof row, {&bits, 1});
      if (bits != 0) return false;
    }
    return true;
  };
  return (of_row(std::type_identity<Rows>{}) && ...);
}

}  // namespace

TEST_CASE("a stream has every value of every table of the stored captures") {
  for (auto const& name : stored_captures) {
    INFO(name);
    CHECK(compare_tables(test_data(name), std::type_identity<capture::row_types>{}) > 40);
  }
}

TEST_CASE("a column that an older capture lacks is zero, as in rows") {
  CHECK(defaults_are_zero(std::type_identity<capture::row_types>{}));
}

TEST_CASE("fields have their unit and their meaning") {
  auto const kernels = imported(test_data("h200/mixed_exact.gpuprof"), "kernel");
  REQUIRE(kernels.names.size() == 15);
  CHECK(kernels.names.front() == "start");
  CHECK(kernels.formats.front() == "l");
  CHECK(kernels.metadata[1] ==
        std::map<std::string, std::string>{
            {"unit", "ns"},
            {"meaning", std::string(capture::note_of("kernel", "duration")->meaning)}});
  CHECK(kernels.names.back() == "kernel_name");
  CHECK(kernels.arrays == 1);
}

TEST_CASE("the list of tables counts the rows of each") {
  auto const path = test_data("h100/ddp.rank0.gpuprof");
  auto const list = imported(path, "tables");
  CHECK(list.names == std::vector<std::string>{"table", "rows", "meaning"});
  REQUIRE(list.rows.size() > 5);
  for (auto const& row : list.rows) {
    INFO(row[0]);
    CHECK(std::to_string(imported(path, row[0]).rows.size()) == row[1]);
    CHECK(row[2] == capture::note_of(row[0])->meaning);
  }
}

TEST_CASE("a range has its length, up to the end of the capture if it was still open") {
  for (auto const& name : stored_captures) {
    INFO(name);
    auto const path = test_data(name);
    auto const whole = imported(path, "range"), begins = imported(path, "range_begin");
    REQUIRE(whole.names.size() == begins.names.size() + 2);
    CHECK(whole.column("start") == begins.column("time"));
    CHECK(whole.column("name") == begins.column("name"));
    auto file = capture::reader::open(path);
    REQUIRE(file);
    trace_contents trace(std::move(*file));
    auto const& tree = trace.ranges();
    std::vector<std::string> lengths, open;
    for (auto const& id : begins.column("range")) {
      auto const at = tree.index_of(static_cast<range_id>(std::stoull(id)));
      lengths.push_back(at == no_range ? "0" : std::to_string(tree[at].duration().value));
      open.push_back(at != no_range && tree[at].still_open ? "1" : "0");
    }
    CHECK(whole.column("duration") == lengths);
    CHECK(whole.column("still_open") == open);
  }
  CHECK(imported(test_data("h100/ddp.rank0.gpuprof"), "range").rows.size() > 20);
}

TEST_CASE("several captures follow each other, with the rank of each") {
  std::vector<std::string> const paths{test_data("h100/ddp.rank1.gpuprof"),
                                       test_data("h100/ddp.rank0.gpuprof"),
                                       test_data("h200/mixed_exact.gpuprof")};
  char const* const all[] = {paths[0].c_str(), paths[1].c_str(), paths[2].c_str()};
  char const* const columns[] = {"duration", "rank"};
  ArrowArrayStream stream{};
  REQUIRE(gpuprof_open_table_of_all(all, 3, "kernel", columns, 2, &stream) == 0);
  auto const kernels = imported(stream);
  CHECK(kernels.names == std::vector<std::string>{"duration", "rank"});
  CHECK(kernels.arrays == 3);
  std::vector<std::string> expected, ranks;
  for (std::size_t i = 0; i < paths.size(); ++i)
    for (auto const& duration : imported(paths[i], "kernel").column("duration")) {
      expected.push_back(duration);
      ranks.push_back(i == 0 ? "1" : i == 1 ? "0" : "2");  // the last one had no launcher
    }
  CHECK(kernels.column("duration") == expected);
  CHECK(kernels.column("rank") == ranks);
  REQUIRE(gpuprof_open_table_of_all(all, 2, "missing", nullptr, 0, &stream) == 0);
  CHECK(imported(stream).names == std::vector<std::string>{"line", "rank"});
}

TEST_CASE("a column and an array stay valid after the stream and their parents are released") {
  ArrowArrayStream stream{};
  REQUIRE(gpuprof_open_table(test_data("h200/mixed_exact.gpuprof").c_str(), "kernel", &stream) ==
          0);
  ArrowSchema schema{};
  ArrowArray array{};
  REQUIRE(stream.get_schema(&stream, &schema) == 0);
  REQUIRE(stream.get_next(&stream, &array) == 0);
  ArrowArray end{};
  CHECK(stream.get_next(&stream, &end) == 0);
  CHECK(end.release == nullptr);
  stream.release(&stream);
  CHECK(stream.release == nullptr);
  auto const last = array.length - 1;
  auto const before = value_at(*schema.children[13], *array.children[13], last);
  ArrowArray name = *array.children[13];  // moved, as consumers do
  array.children[13]->release = nullptr;
  array.release(&array);
  CHECK(value_at(*schema.children[13], name, last) == before);
  name.release(&name);
  CHECK(name.release == nullptr);
  schema.release(&schema);
}

TEST_CASE("a capture that cannot be opened gives one line and an error code") {
  auto const said = [](std::string const& path, char const* table) {
    auto const found = imported(path, table);
    CHECK_THAT(found.error, !Contains("\n"));
    return std::pair(found.code, found.error);
  };
  auto const whole = test_data("h200/mixed_exact.gpuprof");
  CHECK(said("/no/such.gpuprof", "kernel") ==
        std::pair<int, std::string>{ENOENT,
                                    "cannot open '/no/such.gpuprof': No such file or directory"});
  CHECK(said("/proc/self/cmdline", "kernel").first == EINVAL);
  CHECK_THAT(
      said(whole, "kernels").second,
      StartsWith("a capture has no table 'kernels'; there are tables, missing, range, fact, "));
  CHECK(said(whole, "name").first == EINVAL);  // describes the file

  ArrowArrayStream stream{};
  char const* const path = whole.c_str();
  char const* const column = "begin";
  REQUIRE(gpuprof_open_table_of_all(&path, 1, "kernel", &column, 1, &stream) == EINVAL);
  CHECK_THAT(stream.get_last_error(&stream),
             StartsWith("table 'kernel' has no column 'begin'; there are start, duration, "));
  stream.release(&stream);
  char const* const paths[] = {path, "/no/such.gpuprof"};
  REQUIRE(gpuprof_open_table_of_all(paths, 2, "kernel", nullptr, 0, &stream) == 0);
  auto const second = imported(stream);
  CHECK(second.code == ENOENT);
  CHECK(second.rows.size() == imported(whole, "kernel").rows.size());

  CHECK(gpuprof_open_table(path, "kernel", nullptr) == EINVAL);
  CHECK(gpuprof_open_table(nullptr, "kernel", &stream) == EINVAL);
  CHECK(stream.release == nullptr);
  CHECK(gpuprof_open_table(path, nullptr, &stream) == EINVAL);
  CHECK(gpuprof_open_table_of_all(paths, 0, "kernel", nullptr, 0, &stream) == EINVAL);
}

TEST_CASE("a table without rows is empty, and no error") {
  auto const found = imported(test_data("h200/mixed_exact.gpuprof"), "unified_memory");
  CHECK(found.code == 0);
  CHECK(found.names.size() == 8);
  CHECK(found.rows.empty());
}

TEST_CASE("a capture with a damaged byte anywhere gives the same rows as a reader") {
  using namespace gpuprof::capture::test;
  sample const content;
  scratch_file const whole{"columns"};
  content.write(whole.path());
  auto const bytes = whole.bytes();
  memory_file const changed;
  std::size_t with_less = 0;
  for (std::size_t at = 0; at <= bytes.size(); at += 7) {
    auto damaged = bytes;
    if (at < bytes.size())
      damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    else
      damaged.resize(bytes.size() * 2 / 3);
    changed.replace(damaged);
    auto file = capture::reader::open(changed.path());
    REQUIRE(file);
    trace_contents trace(std::move(*file));
    exported_names names(trace);
    auto const expected = rows_of<kernel_record>(trace, names);
    auto const found = imported(changed.path(), "kernel");
    INFO("byte " << at);
    REQUIRE(found.rows == expected);
    if (expected.size() == content.kernels.size()) continue;
    ++with_less;
    CHECK(!imported(changed.path(), "missing").rows.empty());
  }
  CHECK(with_less > 10);
  CHECK(imported(whole.path(), "missing").rows.empty());
}
