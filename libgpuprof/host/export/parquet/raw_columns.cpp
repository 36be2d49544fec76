// SPDX-License-Identifier: Apache-2.0
#include "host/export/parquet/raw_columns.hpp"

#include "capture/column_notes.hpp"

#include <algorithm>
#include <bit>

namespace gpuprof::host {
namespace {

using capture::value_type;

std::span<std::uint64_t> as_unsigned(std::vector<std::int64_t>& numbers) {
  return {reinterpret_cast<std::uint64_t*>(numbers.data()), numbers.size()};
}

column_kind kind_of(capture::column_layout const& column, std::string_view unit) {
  if (column.type == value_type::f64) return column_kind::real;
  if (column.type == value_type::boolean) return column_kind::flag;
  auto const grows = unit.starts_with("ns of ") || column.name == "correlation";
  return grows ? column_kind::rising : column_kind::number;
}

}  // namespace

raw_columns::raw_columns(export_job& job, capture::table_layout const& layout)
    : job_(&job), layout_(&layout) {
  for (std::size_t place = 0; place < layout.columns.size(); ++place) {
    auto const* const note = capture::note_of(layout.name, layout.columns[place].name);
    if (note != nullptr && note->refers_to == "name.id") names_.push_back({.place = place});
  }
}

void raw_columns::see(std::byte const* rows, std::size_t count) {
  std::vector<std::uint64_t> ids(count);
  for (auto& name : names_) {
    capture::gather(layout_->columns[name.place], rows, layout_->row_bytes, ids);
    for (auto const id : ids) {
      auto const [at, is_new] = name.codes->try_emplace(id, no_text);
      if (is_new && id != 0)
        at->second = name.texts->code_of(job_->names.text(static_cast<name_id>(id)));
    }
  }
}

raw_columns::name_column const* raw_columns::name_at(std::size_t place) const noexcept {
  for (auto const& name : names_)
    if (name.place == place) return &name;
  return nullptr;
}

std::vector<table_column> raw_columns::columns() const {
  std::vector<table_column> made;
  for (std::size_t place = 0; place < layout_->columns.size(); ++place)
    made.push_back(column_at(place));
  return made;
}

table_column raw_columns::column_at(std::size_t place) const {
  auto const& column = layout_->columns[place];
  auto const* const note = capture::note_of(layout_->name, column.name);
  table_column made;
  made.name = column.name;
  if (note != nullptr) made.unit = note->unit;
  made.kind = kind_of(column, made.unit);
  made.optional = column.name == "launched" || made.kind == column_kind::real;
  auto const take = [&column, row_bytes = layout_->row_bytes](
                        std::byte const* rows, std::size_t count, column_values& out) {
    out.numbers.resize(count);
    capture::gather(column, rows, row_bytes, as_unsigned(out.numbers));
  };
  if (auto const* const name = name_at(place)) {
    made.kind = column_kind::text;
    made.optional = true;
    made.texts = name->texts;
    made.read = [take, codes = name->codes](std::byte const* rows, std::size_t count,
                                            column_values& out) {
      take(rows, count, out);
      out.codes.resize(count);
      for (std::size_t i = 0; i < count; ++i) {
        auto const known = codes->find(static_cast<std::uint64_t>(out.numbers[i]));
        out.codes[i] = known != codes->end() ? known->second : no_text;
      }
    };
  } else if (made.kind == column_kind::real) {
    made.read = [take](std::byte const* rows, std::size_t count, column_values& out) {
      take(rows, count, out);
      out.reals.resize(count);
      for (std::size_t i = 0; i < count; ++i) out.reals[i] = std::bit_cast<double>(out.numbers[i]);
    };
  } else if (made.kind == column_kind::flag) {
    made.read = [take](std::byte const* rows, std::size_t count, column_values& out) {
      take(rows, count, out);
      out.flags.assign(out.numbers.begin(), out.numbers.end());
    };
  } else if (made.optional) {  // when a call that was not seen was entered
    made.read = [take](std::byte const* rows, std::size_t count, column_values& out) {
      take(rows, count, out);
      std::replace(out.numbers.begin(), out.numbers.end(), std::int64_t{0}, no_number);
    };
  } else {
    made.read = take;
  }
  return made;
}

}  // namespace gpuprof::host
