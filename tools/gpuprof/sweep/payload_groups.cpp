// SPDX-License-Identifier: Apache-2.0
#include "sweep/payload_groups.hpp"

#include "base/nearest_name.hpp"
#include "host/report/summary_tables.hpp"
#include "text/table.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <span>
#include <unordered_map>

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

/// "m, n, k and 4 more".
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

/// Reads labels out of payloads, and remembers why there are none.
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

  /// Of what was seen, when nothing had a label.
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
    names.insert(report::range_name(key_of(tree[range]), trace.text()));
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

}  // namespace gpuprof::host::command
