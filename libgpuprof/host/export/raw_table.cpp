// SPDX-License-Identifier: Apache-2.0
#include "host/export/raw_table.hpp"

#include "host/reading/exported_columns.hpp"

#include <cstring>
#include <tuple>
#include <type_traits>

namespace gpuprof::host {
namespace {

using capture::value_type;

template <class T>
T load(std::byte const* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

raw_value value_at(std::byte const* row, capture::column_layout const& column) {
  auto const* const at = row + column.offset;
  switch (column.type) {
    case value_type::u8:
      return std::uint64_t{load<std::uint8_t>(at)};
    case value_type::u16:
      return std::uint64_t{load<std::uint16_t>(at)};
    case value_type::u32:
      return std::uint64_t{load<std::uint32_t>(at)};
    case value_type::u64:
      return load<std::uint64_t>(at);
    case value_type::i32:
      return std::int64_t{load<std::int32_t>(at)};
    case value_type::i64:
      return load<std::int64_t>(at);
    case value_type::f64:
      return load<double>(at);
    case value_type::boolean:
      return load<std::uint8_t>(at) != 0;
    case value_type::text:
      break;
  }
  return std::string_view{};
}

std::string_view type_name(value_type type, bool is_name) noexcept {
  if (is_name || type == value_type::text) return "text";
  switch (type) {
    case value_type::i32:
    case value_type::i64:
      return "i64";
    case value_type::f64:
      return "f64";
    case value_type::boolean:
      return "bool";
    default:
      return "u64";
  }
}

/// Converts the rows of one table to values.
class table_reading {
 public:
  table_reading(export_job& job, capture::table_layout const& layout)
      : job_(job), columns_(exported_columns(layout)) {
    about_.name = layout.name;
    for (auto const& column : columns_)
      about_.columns.push_back({column.name,
                                type_name(column.source->type, column.holds != content::number),
                                column.unit});
  }

  raw_table const& about(std::uint64_t rows) {
    about_.rows = rows;
    return about_;
  }

  std::span<raw_value const> values_of(std::byte const* row) {
    values_.clear();
    for (auto const& column : columns_) {
      auto const value = value_at(row, *column.source);
      if (column.holds == content::number)
        values_.push_back(value);
      else
        values_.emplace_back(text_of(column.holds, std::get<std::uint64_t>(value)));
    }
    return values_;
  }

 private:
  using content = exported_column::content;

  std::string_view text_of(content holds, std::uint64_t id) const {
    if (holds == content::text_of_name) return job_.names.text(static_cast<name_id>(id));
    return job_.names.kernel_of(static_cast<shape_id>(id)).demangled;
  }

  export_job& job_;
  raw_table about_;
  std::vector<exported_column> columns_;
  std::vector<raw_value> values_;
};

template <class Row>
void read_table(export_job& job, raw_table_sink const& to) {
  auto& file = job.trace.file();
  auto const rows = file.row_count<Row>();
  auto const& layout = capture::layout_of<Row>();
  if (!is_exported(layout) || rows == 0) return;
  table_reading reading(job, layout);
  to.begin(reading.about(rows));
  file.for_each<Row>([&](std::span<Row const> tile) {
    for (auto const& row : tile)
      to.row(reading.values_of(reinterpret_cast<std::byte const*>(&row)));
    job.advance(tile.size());
  });
  to.end();
}

}  // namespace

void each_raw_table(export_job& job, raw_table_sink const& to) {
  []<class... Rows>(std::type_identity<std::tuple<Rows...>>, export_job& of,
                    raw_table_sink const& sink) { (read_table<Rows>(of, sink), ...); }(
      std::type_identity<capture::row_types>{}, job, to);
}

}  // namespace gpuprof::host
