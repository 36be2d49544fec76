// SPDX-License-Identifier: Apache-2.0
#include "host/export/parquet/capture_tables.hpp"

#include "base/utf8.hpp"
#include "capture/layout.hpp"
#include "host/export/parquet/capture_columns.hpp"
#include "host/export/parquet/parquet_file.hpp"
#include "host/reading/capture_rank.hpp"
#include "host/reading/ordered_rows.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <tuple>
#include <type_traits>

namespace gpuprof::host {
namespace {

/// A capture has one row, so the column has one value.
table_column one_number(std::string name, std::string unit, std::int64_t value) {
  return optional_column<char>(std::move(name), column_kind::number, std::move(unit),
                               [value](char) { return value; });
}

table_column one_text(std::string name, std::string_view text) {
  struct owned : text_list {
    std::string text;
  };
  auto texts = std::make_shared<owned>();
  texts->text = valid_utf8(text);
  auto const code = texts->text.empty() ? no_text : texts->code_of(texts->text);
  return text_column<char>(std::move(name), std::move(texts), [code](char) { return code; });
}

std::string joined(std::vector<std::string> const& lines) {
  std::string all;
  for (auto const& line : lines) all += (all.empty() ? "" : "; ") + line;
  return all;
}

/// Returns all facts of the capture, and its rank.
parquet_facts facts_of(export_job& job) {
  parquet_facts facts;
  job.trace.file().for_each<fact_record>([&](std::span<fact_record const> rows) {
    for (auto const& row : rows)
      facts.emplace_back(job.names.text(row.key), job.names.text(row.value));
  });
  auto const rank = rank_or_only_one(job.trace);
  facts.emplace_back("rank", std::to_string(rank.rank));
  facts.emplace_back("world_size", std::to_string(rank.world_size));
  facts.emplace_back("capture", valid_utf8(job.trace.file().path()));
  return facts;
}

/// Returns one row: process, place, time, and what is missing. All other tables must have been read
/// before.
std::vector<table_column> capture_columns(export_job& job,
                                          std::vector<std::string> const& missing) {
  auto& trace = job.trace;
  auto const begin = static_cast<std::int64_t>(trace.origin().value);
  auto const end = static_cast<std::int64_t>(trace.last_moment().value);
  std::string devices;
  for (auto const& [device, name] : trace.device_names())
    devices += (devices.empty() ? "" : ", ") + name;
  return {
      one_text("file", std::filesystem::path(trace.file().path()).filename().string()),
      one_text("host", trace.fact("host")),
      one_number("process_id", "", trace.process_id()),
      one_text("program", trace.fact("process.program")),
      one_text("command_line", trace.fact("process.command_line")),
      one_number("world_size", "", rank_or_only_one(trace).world_size),
      one_number("start", "ns of CLOCK_REALTIME", begin == 0 ? no_number : begin),
      one_number("duration", "ns", begin == 0 || end < begin ? no_number : end - begin),
      one_text("devices", devices),
      one_text("gpuprof_version", trace.fact("gpuprof.version")),
      one_text("missing", joined(missing)),
  };
}

/// A table being written. Rows are gathered into batches.
template <class Row>
class table_output {
 public:
  table_output(export_job& job, std::string const& path, std::vector<table_column> columns,
               parquet_facts const& facts)
      : job_(job), file_(opened(path, std::move(columns), facts)) {
    rows_.reserve(parquet_file::batch_rows);
  }
  void add(Row const& row) {
    rows_.push_back(row);
    if (rows_.size() == parquet_file::batch_rows) flush();
  }
  void finish() {
    flush();
    if (auto const done = file_.finish(); !done) throw table_failed{done.message()};
  }

 private:
  static parquet_file opened(std::string const& path, std::vector<table_column> columns,
                             parquet_facts const& facts) {
    auto file = parquet_file::create(path, std::move(columns), facts);
    if (!file) throw table_failed{file.message()};
    return std::move(*file);
  }
  void flush() {
    file_.put(reinterpret_cast<std::byte const*>(rows_.data()), rows_.size());
    job_.advance(rows_.size());
    rows_.clear();
  }

  export_job& job_;
  parquet_file file_;
  std::vector<Row> rows_;
};

/// True for tables that are written elsewhere or that describe the file itself.
template <class Row>
constexpr bool has_no_raw_table =
    std::is_same_v<Row, capture::schema_row> || std::is_same_v<Row, capture::name_row> ||
    std::is_same_v<Row, capture::end_row> || std::is_same_v<Row, kernel_record> ||
    std::is_same_v<Row, range_begin> || std::is_same_v<Row, range_end>;

template <class Row>
concept launched_work = requires(Row row) {
  row.launched;
  row.range;
};

class capture_tables {
 public:
  capture_tables(export_job& job, rank_folder& folder)
      : job_(job), folder_(folder), facts_(facts_of(job)), places_(job) {}

  void write_kernels() {
    using row = placed<kernel_record>;
    auto out = output<row>("kernel", kernel_columns(job_, places_));
    ordered_rows<kernel_record> kernels(file());
    while (auto const* kernel = kernels.next()) out.add({*kernel, places_.of_launch(*kernel)});
    out.finish();
  }

  void write_ranges() {
    auto out = output<whole_range>("range", range_columns(job_, places_));
    auto const& tree = job_.trace.ranges();
    ordered_rows<range_begin> ranges(file());
    while (auto const* begin = ranges.next()) {
      whole_range row{*begin, 0, false, {}};
      auto const index = tree.index_of(begin->range);
      // PyTorch's operators, whose work is that of the range around them.
      if (tree.has_left_out() && (index == no_range || tree[index].id != begin->range)) continue;
      if (index != no_range) {
        row.duration_ns = tree[index].duration().value;
        row.still_open = tree[index].still_open;
        row.place = places_.of(index);
      }
      out.add(row);
    }
    out.finish();
  }

  template <class Row>
  void write_raw() {
    auto const& layout = capture::layout_of<Row>();
    if (has_no_raw_table<Row> || file().row_count<Row>() == 0) return;
    raw_columns columns(job_, layout);
    if (columns.has_names())
      file().for_each<Row>([&](std::span<Row const> rows) {
        columns.see(reinterpret_cast<std::byte const*>(rows.data()), rows.size());
      });
    if constexpr (launched_work<Row>)
      write_placed<Row>(std::string(layout.name), columns.columns());
    else
      write_plain<Row>(std::string(layout.name), columns.columns());
  }

  void write_capture(std::vector<std::string> const& missing) {
    auto out = output<char>("capture", capture_columns(job_, missing));
    out.add('\0');
    out.finish();
  }

 private:
  capture::reader& file() { return job_.trace.file(); }

  template <class Row>
  table_output<Row> output(std::string const& table, std::vector<table_column> columns) {
    auto path = folder_.file_of(table);
    if (!path) throw table_failed{path.message()};
    return table_output<Row>(job_, *path, std::move(columns), facts_);
  }

  template <class Row>
  void write_plain(std::string const& table, std::vector<table_column> columns) {
    auto out = output<Row>(table, std::move(columns));
    file().for_each<Row>([&](std::span<Row const> rows) {
      for (auto const& row : rows) out.add(row);
    });
    out.finish();
  }

  /// Adds the range in which the work counts. The record comes first in a row, so raw columns find
  /// it there.
  template <class Row>
  void write_placed(std::string const& table, std::vector<table_column> columns) {
    using row = placed<Row>;
    for (auto& column : columns) column.read = of_record<Row>(std::move(column.read));
    auto more = place_columns<row>(places_);
    columns.insert(columns.end(), std::move_iterator(more.begin()), std::move_iterator(more.end()));
    auto out = output<row>(table, std::move(columns));
    file().for_each<Row>([&](std::span<Row const> rows) {
      for (auto const& record : rows) out.add({record, places_.of_launch(record)});
    });
    out.finish();
  }

  template <class Row>
  static auto of_record(decltype(table_column::read) const& read) {
    return [read, records = std::vector<Row>()](std::byte const* rows, std::size_t count,
                                                column_values& out) mutable {
      auto const* const from = reinterpret_cast<placed<Row> const*>(rows);
      records.clear();
      for (std::size_t i = 0; i < count; ++i) records.push_back(from[i].record);
      read(reinterpret_cast<std::byte const*>(records.data()), count, out);
    };
  }

  export_job& job_;
  rank_folder& folder_;
  parquet_facts facts_;
  range_places places_;
};

}  // namespace

result<void> write_capture_tables(export_job& job, rank_folder& folder,
                                  missing_lines const& missing) try {
  capture_tables tables(job, folder);
  tables.write_kernels();
  tables.write_ranges();
  [&]<class... Rows>(std::type_identity<std::tuple<Rows...>>) {
    (tables.write_raw<Rows>(), ...);
  }(std::type_identity<capture::row_types>{});
  tables.write_capture(missing());
  return {};
} catch (table_failed const& why) {
  return error{why.message};
}

}  // namespace gpuprof::host
