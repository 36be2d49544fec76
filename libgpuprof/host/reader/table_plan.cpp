// SPDX-License-Identifier: Apache-2.0
#include "host/reader/captured_columns.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

namespace gpuprof::host {
namespace {

/// An Arrow struct and its children. Consumers may move children away and release them separately,
/// so each child owns what it needs.
template <class Struct>
struct owned_struct {
  std::vector<Struct> children;
  std::vector<Struct*> child_places;
  Struct dictionary{};

  void attach_to(Struct& out) {
    for (auto& child : children) child_places.push_back(&child);
    out.n_children = static_cast<std::int64_t>(children.size());
    out.children = child_places.data();
    out.dictionary = dictionary.release != nullptr ? &dictionary : nullptr;
  }
  ~owned_struct() {
    for (auto& child : children)
      if (child.release != nullptr) child.release(&child);
    if (dictionary.release != nullptr) dictionary.release(&dictionary);
  }
};

struct owned_schema : owned_struct<ArrowSchema> {
  std::string name, metadata;
};

struct owned_array : owned_struct<ArrowArray> {
  std::shared_ptr<void const> memory;
  std::array<void const*, 3> buffers{};
};

template <class Owned, class Struct>
void release(Struct* from) noexcept {
  delete static_cast<Owned*>(from->private_data);
  from->release = nullptr;
}

/// Returns Arrow's encoding: a count, then keys and values, each after its length.
std::string metadata_of(arrow_field const& field) {
  std::string text;
  auto const put_number = [&](std::size_t value) {
    auto const number = static_cast<std::int32_t>(value);
    text.append(reinterpret_cast<char const*>(&number), sizeof number);
  };
  std::array<std::pair<std::string_view, std::string_view>, 2> const pairs{
      {{"unit", field.unit}, {"meaning", field.meaning}}};
  std::size_t count = 0;
  for (auto const& pair : pairs) count += pair.second.empty() ? 0 : 1;
  if (count == 0) return {};
  put_number(count);
  for (auto const& [key, value] : pairs) {
    if (value.empty()) continue;
    for (auto const part : {key, value}) {
      put_number(part.size());
      text += part;
    }
  }
  return text;
}

void fill_schema(ArrowSchema& out, char const* format, std::unique_ptr<owned_schema> owned) {
  owned->attach_to(out);
  out.format = format;
  out.name = owned->name.c_str();
  out.metadata = owned->metadata.empty() ? nullptr : owned->metadata.data();
  out.flags = 0;
  out.release = release<owned_schema, ArrowSchema>;
  out.private_data = owned.release();
}

void fill_array(ArrowArray& out, std::size_t rows, std::int64_t buffers,
                std::unique_ptr<owned_array> owned) {
  owned->attach_to(out);
  out.length = static_cast<std::int64_t>(rows);
  out.null_count = 0;
  out.offset = 0;
  out.n_buffers = buffers;
  out.buffers = owned->buffers.data();
  out.release = release<owned_array, ArrowArray>;
  out.private_data = owned.release();
}

void hand_out_texts(std::shared_ptr<arrow_texts const> const& texts, ArrowArray& out) {
  auto owned = std::make_unique<owned_array>();
  owned->memory = texts;
  owned->buffers = {nullptr, texts->offsets().data(), texts->bytes().data()};
  fill_array(out, texts->offsets().size() - 1, 3, std::move(owned));
}

}  // namespace

std::int32_t arrow_texts::place_of(std::string_view text) {
  auto const [at, is_new] =
      places_.try_emplace(std::string(text), static_cast<std::int32_t>(places_.size()));
  if (is_new) {
    if (bytes_.size() + text.size() > std::numeric_limits<std::int32_t>::max())
      throw std::length_error("the texts of a column take more than 2 GiB");
    bytes_ += text;
    offsets_.push_back(static_cast<std::int32_t>(bytes_.size()));
  }
  return at->second;
}

void hand_out(std::vector<arrow_field> const& fields, ArrowSchema& out) {
  auto table = std::make_unique<owned_schema>();
  table->children.resize(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    auto column = std::make_unique<owned_schema>();
    column->name = fields[i].name;
    column->metadata = metadata_of(fields[i]);
    if (fields[i].is_text) fill_schema(column->dictionary, "u", std::make_unique<owned_schema>());
    fill_schema(table->children[i], fields[i].format, std::move(column));
  }
  fill_schema(out, "+s", std::move(table));
}

void hand_out(arrow_batch const& batch, ArrowArray& out) {
  auto table = std::make_unique<owned_array>();
  table->children.resize(batch.columns.size());
  for (std::size_t i = 0; i < batch.columns.size(); ++i) {
    auto column = std::make_unique<owned_array>();
    column->memory = batch.memory;
    column->buffers[1] = batch.columns[i].values;
    if (batch.columns[i].texts) hand_out_texts(batch.columns[i].texts, column->dictionary);
    fill_array(table->children[i], batch.rows, 2, std::move(column));
  }
  fill_array(out, batch.rows, 1, std::move(table));
}

namespace {

using capture::value_type;
using content = exported_column::content;

char const* format_of(exported_column const& column) noexcept {
  if (column.holds != content::number) return "i";
  if (column.source == nullptr) return column.name == still_open_column ? "C" : "l";
  switch (column.source->type) {
    case value_type::u8:
      return "C";
    case value_type::u16:
      return "S";
    case value_type::u32:
      return "I";
    case value_type::i32:
      return "i";
    case value_type::i64:
      return "l";
    case value_type::f64:
      return "g";
    case value_type::boolean:
      return "b";
    default:  // signed, because times are subtracted from each other
      return column.unit.empty() ? "L" : "l";
  }
}

exported_column made_column(std::string_view name, std::string_view unit, std::string_view meaning,
                            content holds) {
  return {name, unit, meaning, nullptr, 0, holds};
}

std::vector<exported_column> columns_of_made(std::string_view table) {
  if (table == missing_lines)
    return {
        made_column("line", "", "what is missing, and how to lose less", content::text_of_name)};
  return {made_column("table", "", "its name", content::text_of_name),
          made_column("rows", "row", "how many it has, unless blocks of it are damaged",
                      content::number),
          made_column("meaning", "", "what a row of it is", content::text_of_name)};
}

/// Renames `time` to `start`, as in other tables with a duration.
std::vector<exported_column> columns_of_ranges(capture::table_layout const& begins) {
  auto all = exported_columns(begins);
  all.front().name = "start";
  all.insert(
      all.begin() + 1,
      made_column(duration_column, "ns", "to its end, or the end of the capture", content::number));
  all.push_back(made_column(still_open_column, "", "1: it had no end when the capture ended",
                            content::number));
  return all;
}

capture::table_layout const* layout_named(std::string_view name) noexcept {
  if (name == whole_ranges) name = capture::table<range_begin>::name;
  for (auto const& table : capture::all_tables())
    if (table.name == name && is_exported(table)) return &table;
  return nullptr;
}

std::string joined(auto const& parts, auto name_of_part) {
  std::string text;
  for (auto const& part : parts)
    text += (text.empty() ? "" : ", ") + std::string(name_of_part(part));
  return text;
}

error no_such_table(std::string const& name) {
  std::vector<std::string_view> names{list_of_tables, missing_lines, whole_ranges};
  for (auto const& table : capture::all_tables())
    if (is_exported(table)) names.push_back(table.name);
  return error{"a capture has no table '" + name + "'; there are " +
               joined(names, [](auto text) { return text; })};
}

}  // namespace

result<table_plan> plan_of(std::string table, std::span<std::string_view const> wanted,
                           bool has_rank) {
  table_plan plan;
  plan.layout = layout_named(table);
  if (plan.layout == nullptr && table != list_of_tables && table != missing_lines)
    return no_such_table(table);
  auto all = plan.layout == nullptr  ? columns_of_made(table)
             : table == whole_ranges ? columns_of_ranges(*plan.layout)
                                     : exported_columns(*plan.layout);
  if (has_rank || std::find(wanted.begin(), wanted.end(), rank_column) != wanted.end())
    all.push_back(made_column(rank_column, "",
                              "of the process in its job; where it had none, the place of its "
                              "capture among those that were opened",
                              content::number));
  if (wanted.empty()) plan.columns = all;
  for (auto const name : wanted) {
    auto const at = std::find_if(all.begin(), all.end(),
                                 [name](auto const& column) { return column.name == name; });
    if (at == all.end())
      return error{"table '" + table + "' has no column '" + std::string(name) + "'; there are " +
                   joined(all, [](auto const& column) { return column.name; })};
    plan.columns.push_back(*at);
  }
  for (auto const& column : plan.columns)
    plan.fields.push_back({std::string(column.name), std::string(column.unit),
                           std::string(column.meaning), format_of(column),
                           column.holds != content::number});
  plan.table = std::move(table);
  return plan;
}

}  // namespace gpuprof::host
