// SPDX-License-Identifier: Apache-2.0
#include "sweep/sweep_reading.hpp"

#include "base/nearest_name.hpp"
#include "base/readable.hpp"
#include "host/reading/roofline_reading.hpp"
#include "host/report/summary_tables.hpp"
#include "roofline_of_capture.hpp"
#include "text/table.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <unordered_map>
#include <utility>

namespace gpuprof::host::command {
namespace {

using fields = std::vector<std::pair<std::string, std::string>>;
constexpr std::size_t max_named = 5, max_depth = 16;

void collect(nlohmann::json const& value, std::string const& name, std::size_t depth, fields& out) {
  if (depth > max_depth) return;
  if (value.is_object()) {
    for (auto const& [key, member] : value.items())
      collect(member, name.empty() ? key : name + "." + key, depth + 1, out);
  } else if (value.is_array()) {  // several payloads, or a field with several values
    for (auto const& element : value) collect(element, name, depth + 1, out);
  } else if (value.is_string()) {
    out.emplace_back(name, value.get<std::string>());
  } else if (!value.is_null()) {
    out.emplace_back(name, value.dump());
  }
}

std::string number_text(double value) {
  std::string text;
  text::append_cell(text, text::number_cell(value), text::column_kind::number, {});
  return text;
}

/// Returns "m, n, k and 4 more".
std::string listed(std::set<std::string> const& names) {
  std::string text;
  std::size_t shown = 0;
  for (auto const& name : names) {
    if (shown == max_named) return text + " and " + std::to_string(names.size() - shown) + " more";
    text += (shown++ == 0 ? "" : ", ") + name;
  }
  return text;
}

bool is_named(std::string const& name, std::string const& field) {
  return name == field || (name.size() > field.size() && name.ends_with(field) &&
                           name[name.size() - field.size() - 1] == '.');
}

/// Reads labels from payloads, and remembers why there are none.
class payload_reading {
 public:
  payload_reading(trace_contents& trace, std::string const& field)
      : text_(trace.text()), field_(field) {}

  std::optional<std::string> label(range_begin const& range) {
    switch (range.payload) {
      case payload_kind::none:
        return std::nullopt;
      case payload_kind::unsigned64:
        return plain(std::to_string(range.payload_bits));
      case payload_kind::signed64:
        return plain(std::to_string(static_cast<std::int64_t>(range.payload_bits)));
      case payload_kind::float64:
        return plain(number_text(std::bit_cast<double>(range.payload_bits)));
      case payload_kind::text:
        break;
    }
    auto const [known, is_new] = of_texts_.try_emplace(range.payload_bits);
    if (is_new)
      known->second = in_fields(payload_fields(text_(static_cast<name_id>(range.payload_bits))));
    return known->second;
  }

  /// Explains from the payloads seen why none had a label.
  std::string why_none() const {
    if (several_)
      return "payloads have several fields, name one: --over payload.FIELD, of " + listed(seen_);
    if (seen_.empty() && is_plain_)
      return "payloads are plain values, without fields: --over payload";
    if (seen_.empty()) return {};
    auto const near = nearest_name(field_, std::vector<std::string>(seen_.begin(), seen_.end()));
    return "no payload has a field '" + field_ + "'" +
           (near.empty() ? "" : ", did you mean '" + near + "'?") + "; there are " + listed(seen_);
  }

 private:
  std::optional<std::string> plain(std::string value) {
    is_plain_ = true;
    return field_.empty() ? std::optional(std::move(value)) : std::nullopt;
  }
  std::optional<std::string> in_fields(fields const& of) {
    if (field_.empty()) {
      if (of.size() == 1) return of.front().second;
      several_ = several_ || of.size() > 1;
    }
    for (auto const& [name, value] : of) {
      if (!field_.empty() && is_named(name, field_)) return value;
      if (!name.empty()) seen_.insert(name);
    }
    return std::nullopt;
  }

  text_of_name const& text_;
  std::string const& field_;
  std::unordered_map<std::uint64_t, std::optional<std::string>> of_texts_;
  std::set<std::string> seen_;
  bool several_ = false, is_plain_ = false;
};

}  // namespace

fields payload_fields(std::string_view json) {
  fields out;
  auto const value = nlohmann::json::parse(json, nullptr, false);
  if (!value.is_discarded()) collect(value, {}, 0, out);
  return out;
}

result<range_groups> groups_by_payload(trace_contents& trace,
                                       std::optional<range_expression> const& ranges,
                                       std::string const& field) {
  auto const& tree = trace.ranges();
  std::vector<bool> is_wanted(tree.size(), !ranges);
  if (ranges) {
    auto const chosen = ranges_of(*ranges, tree, trace.text());
    if (!chosen) return error{chosen.message()};
    for (auto const range : *chosen) is_wanted[range] = true;
  }
  range_groups out;
  out.of_ranges.assign(tree.size(), no_range);
  payload_reading payloads(trace, field);
  std::unordered_map<std::string, std::uint32_t> group_of;
  std::set<std::string> names;
  auto const take = [&](range_begin const& begin) {
    auto const range = tree.index_of(begin.range);
    if (range == no_range || !is_wanted[range]) return;
    auto const label = payloads.label(begin);
    if (!label) return;
    auto const [group, is_new] =
        group_of.try_emplace(*label, static_cast<std::uint32_t>(out.labels.size()));
    if (is_new) out.labels.push_back(*label);
    out.of_ranges[range] = group->second;
    names.insert(range_name(key_of(tree[range]), trace.text()));
  };
  trace.file().for_each<range_begin>(
      [&](std::span<range_begin const> begins) {
        for (auto const& begin : begins) take(begin);
      },
      capture::only(&range_begin::range, &range_begin::payload, &range_begin::payload_bits));
  if (out.labels.empty()) {
    auto const why = payloads.why_none();
    return error{!why.empty()   ? why
                 : tree.empty() ? "there are no NVTX ranges"
                                : "no NVTX range" + std::string(ranges ? " of that name" : "") +
                                      " has a payload"};
  }
  if (names.size() > 1)
    return error{"ranges of several names have payloads, name one with --range: " + listed(names)};
  out.name = *names.begin();
  return out;
}

namespace {

/// Group 0 is line 1, because an empty key stands for the ranges without a group.
range_key line_of(std::uint32_t group) {
  return {.name = static_cast<name_id>(group + 1), .domain = {}, .style = {}};
}

/// Takes the label of a capture; the ranges that count are those of the name, or any.
result<range_groups> groups_by_label(trace_contents& trace,
                                     std::optional<range_expression> const& ranges,
                                     std::string const& label) {
  range_groups out;
  auto value = trace.fact("label." + label);
  if (value.empty())
    return error{"has no label '" + label + "'; gpuprof profile --label " + label +
                 "=VALUE gives it one"};
  out.labels.push_back(std::move(value));
  auto const& tree = trace.ranges();
  out.of_ranges.assign(tree.size(), ranges ? no_range : 0);
  if (!ranges) return out;
  auto const chosen = ranges_of(*ranges, tree, trace.text());
  if (!chosen) return error{chosen.message()};
  for (auto const range : *chosen) out.of_ranges[range] = 0;
  out.name = range_name(key_of(tree[chosen->front()]), trace.text());
  return out;
}

/// Counts every kernel once, as in the roofline by kernel.
range_work everything(workload_times const& times) {
  range_work all;
  for (std::uint32_t i = 0; i < times.size(); ++i)
    if (!times.is_level_above(i)) all.workloads.push_back({i, times.tally(i)});
  return all;
}

/// Declarations of ranges cover all work in them. They are used if that is most of `all`.
void take_declared(range_work& all, range_work const& of_ranges, double all_ns) {
  if (static_cast<double>(of_ranges.declared_ns) >= least_known_share * all_ns) {
    all.declared_flops = of_ranges.declared_flops;
    all.declared_ns = of_ranges.declared_ns;
  }
  if (static_cast<double>(of_ranges.declared_bytes_ns) >= least_known_share * all_ns) {
    all.declared_bytes = of_ranges.declared_bytes;
    all.declared_bytes_ns = of_ranges.declared_bytes_ns;
  }
}

roofline_row row_of(roofline const& roofs, range_work const& work) {
  return roofs.by_range(std::span(&work, 1), [](range_key) { return std::string(); }).front();
}

sweep_point point_of(std::string const& label, roofline_row const& row, range_work const& work,
                     bool counts_ranges) {
  sweep_point point;
  point.label = label;
  point.size = size_of(label);
  point.calls = counts_ranges ? work.instances : row.launches;
  if (point.calls > 0) point.time_per_call = row.total_ns / static_cast<double>(point.calls);
  point.flops = row.total_flops;
  point.flops_from = row.source;
  point.bytes = row.dram_rate;
  if (row.dram_rate) point.bytes_from = byte_source::counted;
  if (!row.dram_rate && work.declared_bytes_ns > 0) {
    point.bytes = work.declared_bytes / static_cast<double>(work.declared_bytes_ns) * 1e9;
    point.bytes_from = byte_source::declared;
  }
  point.of_roof = row.of_roof;
  point.bound = row.bound;
  return point;
}

/// Includes the script of an interpreter: "python3 train.py".
std::string program_of(trace_contents const& trace) {
  auto program = trace.fact("process.program");
  std::istringstream words(trace.fact("process.command_line"));
  std::string word;
  if (program.empty() && words >> word) program = word;
  while (words >> word)
    if (word.ends_with(".py") || word.ends_with(".jl") || word.ends_with(".sh"))
      return program + " " + word;
  return program;
}

void describe(swept_capture& out, trace_contents& trace, roofline_reading const& read,
              std::optional<std::uint32_t> device) {
  auto const names = trace.device_names();
  for (auto const& [id, of] : read.devices()) {
    if (device && raw(id) != *device) continue;
    bool const is_first = out.device.empty();
    if (!is_first && (of.roofs.empty() || !out.roofs.empty())) continue;
    if (auto const name = names.find(raw(id)); name != names.end()) out.device = name->second;
    out.roofs = of.roofs;
  }
  out.program = program_of(trace);
  for (auto& line : trace.missing()) out.notes.push_back(std::move(line));
}

/// Returns the work of each group; groups without work have an empty entry.
std::vector<range_work> work_of_groups(roofline_reading const& read, std::size_t groups) {
  std::vector<range_work> out(groups);
  for (auto const& work : read.ranges()) {
    auto const line = raw(work.key.name);
    if (!work.is_outside && line > 0 && line <= groups) out[line - 1] = work;
  }
  return out;
}

/// Without a range, the capture is the only group: all its work counts, in ranges or not.
void take_all(std::vector<range_work>& works, roofline_reading const& read, roofline const& roofs,
              bool with_declared) {
  auto all = everything(read.times());
  if (with_declared) take_declared(all, works.front(), row_of(roofs, all).total_ns);
  works.front() = std::move(all);
}

void add_points(swept_capture& out, std::vector<range_work> const& works,
                range_groups const& groups, roofline const& roofs, bool counts_ranges) {
  std::size_t idle = 0;
  for (std::size_t i = 0; i < works.size(); ++i) {
    auto row = row_of(roofs, works[i]);
    if (row.launches == 0) {
      ++idle;
      continue;
    }
    out.points.push_back(point_of(groups.labels[i], row, works[i], counts_ranges));
    out.rows.push_back(std::move(row));
  }
  if (idle > 0 && !out.points.empty())
    out.notes.push_back(counted(idle, "values without a kernel") + " left out");
}

result<std::optional<range_expression>> parsed_range(std::string const& text) {
  if (text.empty()) return std::optional<range_expression>();
  auto parsed = parse_range_expression(text);
  if (!parsed) return error{parsed.message()};
  return std::optional(*std::move(parsed));
}

}  // namespace

swept_result read_sweep(std::string const& path, sweep_question const& question) {
  auto const expression = parsed_range(question.range);
  if (!expression) return sweep_failure{expression.message(), true};
  auto opened = capture::reader::open(path);
  if (!opened) return sweep_failure{opened.message()};
  trace_contents trace(*std::move(opened));
  auto const groups = question.by_payload ? groups_by_payload(trace, *expression, question.over)
                                          : groups_by_label(trace, *expression, question.over);
  if (!groups) return sweep_failure{path + ": " + groups.message()};

  selection wanted;
  if (auto failed = narrow(wanted, question.filters, trace, path, question.scope))
    return sweep_failure{std::move(failed->message), failed->wrong_options};
  std::optional<device_id> device;
  if (question.filters.device) device = static_cast<device_id>(*question.filters.device);
  roofline_reading read(trace, device, question.scope, wanted.is_everything() ? nullptr : &wanted);
  find_peaks(trace, read);
  auto const& tree = trace.ranges();
  read.group_ranges([&](traced_range const& range) {
    auto const group = groups->of_ranges[tree.index_of(range.id)];
    return group == no_range ? range_key{} : line_of(group);
  });
  read_alone(trace, read, true);

  roofline const roofs(read.metrics(), read.times(), read.devices(), trace.shapes(), read.codes());
  auto works = work_of_groups(read, groups->labels.size());
  if (!question.counts_ranges()) take_all(works, read, roofs, question.filters.kernels.empty());
  swept_capture out;
  out.range = groups->name;
  add_points(out, works, *groups, roofs, question.counts_ranges());
  if (out.points.empty()) {
    auto text = path + ": no kernel ran in what is asked for";
    for (auto const& line : trace.missing()) text += "; " + line;
    return sweep_failure{std::move(text)};
  }
  describe(out, trace, read, question.filters.device);
  return out;
}

}  // namespace gpuprof::host::command
