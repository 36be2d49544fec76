// SPDX-License-Identifier: Apache-2.0
#include "host/report/critical_path_table.hpp"

#include "host/report/json_object.hpp"
#include "host/report/owned_rows.hpp"

#include <utility>

namespace gpuprof::host::report {
namespace {

double percent_of(double part_ns, double all_ns) noexcept {
  return all_ns > 0 ? 100 * part_ns / all_ns : 0;
}

/// No kernel, call or range has this time, so there is no total beside it.
bool has_total(replay::path_part part) noexcept {
  return part != replay::path_part::start && part != replay::path_part::unexplained;
}

void append_group(text::row& to, replay::path_of_group const& group, replay::path_sum const& sum,
                  bool with_total) {
  append_cells(to, {percent_of(sum.path_ns, group.length_ns), sum.path_ns,
                    with_total ? text::cell(sum.total_ns) : text::cell(), sum.count});
}

owned_rows rows_of(replay::step_paths const& of) {
  owned_rows made;
  auto const add = [&](std::string_view kind, std::string name, replay::path_sum const& median,
                       replay::path_sum const& slowest, bool with_total) {
    text::row row;
    append_group(row, of.median, median, with_total);
    append_group(row, of.slowest, slowest, with_total);
    append_cells(row, {kind, made.keep(std::move(name))});
    made.rows.push_back(std::move(row));
  };
  add("step", "the whole step", {of.median.length_ns, 0, 1}, {of.slowest.length_ns, 0, 1}, false);
  for (std::size_t i = 0; i < replay::path_part_count; ++i) {
    auto const part = static_cast<replay::path_part>(i);
    add(replay::name_of(replay::subject_kind::kind_of_work), std::string(replay::name_of(part)),
        of.median.parts[i], of.slowest.parts[i], has_total(part));
  }
  text::row inferred;
  for (auto const* const group : {&of.median, &of.slowest})
    append_cells(inferred, {percent_of(group->inferred_ns, group->length_ns), group->inferred_ns,
                            text::cell(), text::cell()});
  append_cells(inferred, {std::string_view("of these"),
                          std::string_view("waits for another stream, inferred")});
  made.rows.push_back(std::move(inferred));
  for (auto const& subject : of.subjects)
    add(replay::name_of(subject.kind), subject.name.empty() ? "(outside of ranges)" : subject.name,
        subject.median, subject.slowest, true);
  return made;
}

void add_parts(json_object& to, replay::critical_path const& path) {
  for (std::size_t i = 0; i < replay::path_part_count; ++i)
    to.number(std::string(key_of(static_cast<replay::path_part>(i))) + "_ns", path.ns[i]);
  to.number("inferred_ns", path.inferred_ns);
}

void append_group_json(std::string& out, replay::path_of_group const& group) {
  replay::critical_path path;
  for (std::size_t i = 0; i < replay::path_part_count; ++i) path.ns[i] = group.parts[i].path_ns;
  path.inferred_ns = group.inferred_ns;
  json_object o(out);
  o.whole("steps", group.steps);
  o.number("length_ns", group.length_ns);
  add_parts(o, path);
  o.end();
}

}  // namespace

text::table critical_path_table(replay::step_paths const& of) {
  using text::column_kind;
  return table_of("critical_path", "Critical Path of a Step",
                  {{"Share", column_kind::share},
                   {"On Path", column_kind::mean_time, 5},
                   {"Total", column_kind::mean_time, 6},
                   {"Count", column_kind::decimal, 2},
                   {"Slow Share", column_kind::share, text::never_left_out},
                   {"Slow On Path", column_kind::mean_time, 4},
                   {"Slow Total", column_kind::mean_time, 3},
                   {"Slow Count", column_kind::decimal, 1},
                   {"Kind", column_kind::text, 7},
                   {"Name", column_kind::text}},
                  of.steps == 0 ? owned_rows{} : rows_of(of));
}

void append_path_json(std::string& out, replay::critical_path const& path) {
  json_object o(out);
  add_parts(o, path);
  o.end();
}

void append_paths_json(std::string& out, std::string_view step, replay::step_paths const& of) {
  if (of.steps == 0) {
    out += "null";
    return;
  }
  json_object o(out);
  o.text("step", step);
  o.whole("steps", of.steps);
  o.member("median", [&](std::string& to) { append_group_json(to, of.median); });
  o.member("slowest", [&](std::string& to) { append_group_json(to, of.slowest); });
  o.end();
}

}  // namespace gpuprof::host::report
