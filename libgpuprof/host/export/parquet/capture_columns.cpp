// SPDX-License-Identifier: Apache-2.0
#include "host/export/parquet/capture_columns.hpp"

#include "capture/column_notes.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>

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
  } else if (made.optional) {  // such as the entry time of a call whose entry was not seen
    made.read = [take](std::byte const* rows, std::size_t count, column_values& out) {
      take(rows, count, out);
      std::replace(out.numbers.begin(), out.numbers.end(), std::int64_t{0}, no_number);
    };
  } else {
    made.read = take;
  }
  return made;
}

namespace {

// A range that is never closed makes every later one a level deeper: from this length on, paths do
// not grow.
constexpr std::size_t long_path_bytes = 4096;

bool is_step(std::string_view name) {
  constexpr std::string_view word = "step";
  return std::search(name.begin(), name.end(), word.begin(), word.end(), [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) == b;
         }) != name.end();
}

std::string_view without_number(std::string_view name) {
  auto const last = name.find_last_not_of("0123456789");
  return name.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

using kernel = placed<kernel_record>;
constexpr auto rising = column_kind::rising;
constexpr auto number = column_kind::number;
constexpr char clock[] = "ns of CLOCK_REALTIME";

/// Returns the number, or null if it is 0, which means none.
template <class T>
std::int64_t or_null(T value) {
  auto const plain = static_cast<std::int64_t>(value);
  return plain == 0 ? no_number : plain;
}

/// Texts with the code for each shape; the first code is for an unknown shape.
struct shape_texts {
  std::shared_ptr<text_list> texts = std::make_shared<text_list>();
  std::vector<std::int32_t> codes;

  template <class Text>
  shape_texts(export_job& job, Text text) {
    codes.push_back(texts->code_of(text(job.names.kernel_of(shape_id{}))));
    for (auto const& shape : job.trace.shapes()) {
      if (raw(shape.id) > largest_shape) continue;
      if (raw(shape.id) >= codes.size()) codes.resize(raw(shape.id) + 1, codes.front());
      codes[raw(shape.id)] = texts->code_of(text(job.names.kernel_of(shape.id)));
    }
  }
  table_column column(std::string name) const {
    return text_column<kernel>(std::move(name), texts, [codes = codes](kernel const& k) {
      return codes[raw(k.record.shape) < codes.size() ? raw(k.record.shape) : 0];
    });
  }
};

/// A column with a value of the kernel's shape.
template <class F>
table_column of_shape(export_job& job, std::string name, F figure) {
  return number_column<kernel>(std::move(name), number, "",
                               [&names = job.names, figure](kernel const& k) {
                                 return figure(names.shape(k.record.shape));
                               });
}

void append(std::vector<table_column>& to, std::vector<table_column> more) {
  to.insert(to.end(), std::move_iterator(more.begin()), std::move_iterator(more.end()));
}

double payload_number(range_begin const& range) {
  switch (range.payload) {
    case payload_kind::unsigned64:
      return static_cast<double>(range.payload_bits);
    case payload_kind::signed64:
      return static_cast<double>(static_cast<std::int64_t>(range.payload_bits));
    case payload_kind::float64:
      return std::bit_cast<double>(range.payload_bits);
    default:
      return std::nan("");
  }
}

/// A column with the texts that `id_of` finds in the ranges of the capture; null if the id is 0.
template <class F>
table_column range_text(export_job& job, std::string name, F id_of) {
  auto texts = std::make_shared<text_list>();
  auto codes = std::make_shared<std::unordered_map<name_id, std::int32_t>>();
  codes->emplace(name_id{}, no_text);
  job.trace.file().for_each<range_begin>([&](std::span<range_begin const> rows) {
    for (auto const& row : rows)
      if (auto const [at, is_new] = codes->try_emplace(id_of(row), 0); is_new)
        at->second = texts->code_of(job.names.text(id_of(row)));
  });
  return text_column<whole_range>(std::move(name), texts, [codes, id_of](whole_range const& r) {
    auto const known = codes->find(id_of(r.begin));
    return known != codes->end() ? known->second : no_text;
  });
}

}  // namespace

range_places::range_places(export_job& job) : launched_(&job.trace.launched(range_scope::process)) {
  auto const& tree = job.trace.ranges();
  places_.resize(tree.size());
  take_paths(tree, job.names);
  count_steps(tree, job.names);
}

void range_places::take_paths(range_tree const& tree, exported_names& names) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> known;
  for (std::uint32_t i = 0; i < tree.size(); ++i) {
    auto const& range = tree[i];
    auto const& around = of(range.parent);  // has a lower index, so it is already done
    places_[i].name = names_->code_of(names.text(range.name));
    auto const [at, is_new] = known.try_emplace({around.path, places_[i].name}, around.path);
    if (is_new) {
      auto const& outer = around.path == no_text
                              ? std::string_view{}
                              : paths_->texts()[static_cast<std::size_t>(around.path)];
      if (outer.size() < long_path_bytes) {
        auto text =
            std::string(outer) + (around.path == no_text ? "" : "/") + names.text(range.name);
        path_texts_.push_back(std::make_unique<std::string const>(std::move(text)));
        at->second = paths_->code_of(*path_texts_.back());
      }
    }
    places_[i].path = at->second;
  }
}

void range_places::count_steps(range_tree const& tree, exported_names& names) {
  std::map<std::tuple<std::string_view, name_id, range_style>, std::int64_t> seen;
  std::vector<bool> in_named(tree.size());  // the range is inside one with "step" in its name
  for (std::uint32_t i = 0; i < tree.size(); ++i) {
    auto const& range = tree[i];
    auto const outer = range.around();
    auto const has_parent = outer < i;
    auto const name = std::string_view(names.text(range.name));
    if (has_parent && (in_named[outer] || !is_step(name))) {
      places_[i].step = places_[outer].step;
      in_named[i] = in_named[outer];
      continue;
    }
    in_named[i] = is_step(name);
    places_[i].step = seen[{without_number(name), range.domain, range.style}]++;
  }
}

std::vector<table_column> kernel_columns(export_job& job, range_places const& ranges) {
  shape_texts const names(job, [](auto const& k) { return std::string_view(k.demangled); });
  shape_texts const bases(job, [](auto const& k) { return std::string_view(k.base); });
  std::vector<table_column> made;
  auto const add = [&](char const* name, column_kind kind, char const* unit, auto value) {
    made.push_back(number_column<kernel>(name, kind, unit,
                                         [value](kernel const& k) { return value(k.record); }));
  };
  auto const add_optional = [&](char const* name, column_kind kind, char const* unit, auto value) {
    made.push_back(optional_column<kernel>(name, kind, unit,
                                           [value](kernel const& k) { return value(k.record); }));
  };
  add("start", rising, clock, [](auto const& k) { return k.start.value; });
  add("duration", number, "ns", [](auto const& k) { return k.duration.value; });
  add_optional("launched", rising, clock, [](auto const& k) { return or_null(k.launched.value); });
  made.push_back(names.column("name"));
  made.push_back(bases.column("base_name"));
  append(made, place_columns<kernel>(ranges));
  made.push_back(of_shape(job, "grid_x", [](auto const& s) { return s.grid.x; }));
  made.push_back(of_shape(job, "grid_y", [](auto const& s) { return s.grid.y; }));
  made.push_back(of_shape(job, "grid_z", [](auto const& s) { return s.grid.z; }));
  made.push_back(of_shape(job, "block_x", [](auto const& s) { return s.block.x; }));
  made.push_back(of_shape(job, "block_y", [](auto const& s) { return s.block.y; }));
  made.push_back(of_shape(job, "block_z", [](auto const& s) { return s.block.z; }));
  add("device", number, "", [](auto const& k) { return raw(k.device); });
  add("context", number, "", [](auto const& k) { return raw(k.context); });
  add("stream", number, "", [](auto const& k) { return raw(k.stream); });
  add_optional("thread", number, "", [](auto const& k) { return or_null(raw(k.thread)); });
  add("correlation", rising, "", [](auto const& k) { return raw(k.correlation); });
  add_optional("range", number, "", [](auto const& k) { return or_null(raw(k.range)); });
  add("shape", number, "", [](auto const& k) { return raw(k.shape); });
  add_optional("graph", number, "", [](auto const& k) { return or_null(raw(k.graph)); });
  add_optional("node", number, "", [](auto const& k) { return or_null(raw(k.node)); });
  add_optional("time_of", number, "", [](auto const& k) { return or_null(raw(k.time_of)); });
  return made;
}

std::vector<table_column> range_columns(export_job& job, range_places const& ranges) {
  std::vector<table_column> made;
  auto const add = [&](char const* name, column_kind kind, char const* unit, auto value) {
    made.push_back(number_column<whole_range>(name, kind, unit, value));
  };
  auto const add_optional = [&](char const* name, auto value) {
    made.push_back(optional_column<whole_range>(name, number, "", value));
  };
  add("start", rising, clock, [](auto const& r) { return r.begin.time.value; });
  add("duration", number, "ns", [](auto const& r) { return r.duration_ns; });
  made.push_back(
      text_column<whole_range>("name", ranges.names(), [](auto const& r) { return r.place.name; }));
  made.push_back(range_text(job, "domain", [](range_begin const& r) { return r.domain; }));
  made.push_back(
      text_column<whole_range>("path", ranges.paths(), [](auto const& r) { return r.place.path; }));
  add_optional("step", [](auto const& r) { return r.place.step; });
  add("thread", number, "", [](auto const& r) { return raw(r.begin.thread); });
  add("level", number, "", [](auto const& r) { return r.begin.level; });
  add("style", number, "", [](auto const& r) { return static_cast<int>(r.begin.style); });
  made.push_back(
      flag_column<whole_range>("still_open", [](whole_range const& r) { return r.still_open; }));
  add("range", rising, "", [](auto const& r) { return raw(r.begin.range); });
  add_optional("parent", [](auto const& r) { return or_null(raw(r.begin.parent)); });
  add_optional("category", [](auto const& r) { return or_null(r.begin.category); });
  add_optional("color", [](auto const& r) { return or_null(r.begin.color); });
  auto const add_real = [&](char const* name, char const* unit, auto value) {
    made.push_back(real_column<whole_range>(name, unit, value));
  };
  add_real("payload", "", [](whole_range const& r) { return payload_number(r.begin); });
  made.push_back(range_text(job, "payload_text", [](range_begin const& r) {
    return r.payload == payload_kind::text ? static_cast<name_id>(r.payload_bits) : name_id{};
  }));
  add_real("declared_flops", "FLOP", [](whole_range const& r) { return r.begin.declared_flops; });
  add_real("declared_bytes", "byte", [](whole_range const& r) { return r.begin.declared_bytes; });
  return made;
}

}  // namespace gpuprof::host
