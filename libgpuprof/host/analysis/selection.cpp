// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/selection.hpp"

#include "base/nearest_name.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

namespace gpuprof::host {
namespace {

std::optional<std::uint64_t> number(std::string_view digits) {
  std::uint64_t value = 0;
  auto const [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

/// Returns the ns of a time such as "1.5ms".
std::optional<std::uint64_t> moment(std::string_view text) {
  double value = 0;
  auto const [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || !(value >= 0)) return std::nullopt;
  auto const unit = text.substr(static_cast<std::size_t>(end - text.data()));
  double const scale = unit.empty() || unit == "ns" ? 1
                       : unit == "us"               ? 1e3
                       : unit == "ms"               ? 1e6
                       : unit == "s"                ? 1e9
                                                    : 0;
  if (scale == 0 || value * scale > 9e18) return std::nullopt;
  if (auto const exact = number(text)) return exact;  // a double holds whole ns only up to 2^53
  return static_cast<std::uint64_t>(std::llround(value * scale));
}

/// Returns the name as reports show it.
std::string shown_name(std::string_view domain, std::string_view name) {
  return std::string(domain) + (domain.empty() ? "" : ":") + std::string(name);
}

/// Without a domain, the name may also be DOMAIN:NAME, as reports show it.
bool matches(range_expression const& filter, std::string_view domain, std::string_view name) {
  if (filter.domain == "*") return name == filter.name;
  if (domain == filter.domain && name == filter.name) return true;
  return filter.domain.empty() && !domain.empty() && filter.name.size() > domain.size() &&
         filter.name == shown_name(domain, name);
}

/// Returns "; did you mean 'lib:step'?", or an empty text.
std::string near_names(range_expression const& filter, range_tree const& tree,
                       text_of_name const& text) {
  std::set<std::string> shown;
  for (std::uint32_t i = 0; i < tree.size(); ++i) {
    auto const domain = text(tree[i].domain), name = text(tree[i].name);
    if (name == filter.name) return "; did you mean '" + shown_name(domain, name) + "'?";
    shown.insert(shown_name(domain, name));
  }
  std::vector<std::string> const names(shown.begin(), shown.end());
  auto const near = nearest_name(
      filter.domain == "*" ? filter.name : shown_name(filter.domain, filter.name), names);
  return near.empty() ? near : "; did you mean '" + near + "'?";
}

}  // namespace

result<range_expression> parse_range_expression(std::string_view text) {
  range_expression filter;
  auto* part = &filter.name;
  std::string index;
  bool has_index = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      *part += text[++i];
    } else if (text[i] == '@' && part == &filter.name) {
      part = &filter.domain;
    } else if (text[i] == '/' && part != &index) {
      part = &index;
      has_index = true;
    } else {
      *part += text[i];
    }
  }
  if (filter.name.empty())
    return error{"NVTX filter '" + std::string(text) +
                 "' names no range; expected NAME[@DOMAIN][/INDEX]"};
  if (!has_index) return filter;
  filter.index = number(index);
  if (!filter.index)
    return error{"NVTX filter '" + std::string(text) + "': index '" + index +
                 "' is not a whole number; write \\/ for a slash that belongs to the name"};
  return filter;
}

result<time_stretch> parse_time_stretch(std::string_view text, timestamp_ns origin) {
  auto const bad = [&] {
    return error{"time filter '" + std::string(text) +
                 "' is not START/END; expected numbers from the start of the capture with ns, us, "
                 "ms or s, e.g. 10ms/1.5s"};
  };
  auto const slash = text.find('/');
  if (slash == std::string_view::npos || text.size() == 1) return bad();
  auto const first = text.substr(0, slash);
  auto const last = text.substr(slash + 1);
  time_stretch stretch;
  if (!first.empty()) {
    auto const begin = moment(first);
    if (!begin) return bad();
    stretch.begin.value = origin.value + *begin;
  }
  if (!last.empty()) {
    auto const end = moment(last);
    if (!end) return bad();
    stretch.end.value = origin.value + *end;
  }
  if (stretch.end < stretch.begin) return bad();
  return stretch;
}

result<std::vector<std::uint32_t>> ranges_of(range_expression const& filter, range_tree const& tree,
                                             text_of_name const& text) {
  std::vector<std::uint32_t> chosen;
  std::uint64_t position = 0;
  for (std::uint32_t i = 0; i < tree.size(); ++i) {
    if (!matches(filter, text(tree[i].domain), text(tree[i].name))) continue;
    if (!filter.index || *filter.index == position) chosen.push_back(i);
    ++position;
  }
  auto const what = "NVTX range '" + filter.name +
                    (filter.domain.empty() ? "'" : "' in domain '" + filter.domain + "'");
  if (position == 0)
    return error{"the capture holds no " + what + near_names(filter, tree, text) +
                 "; the report nvtx_sum lists all range names"};
  if (chosen.empty())
    return error{what + " occurs " + std::to_string(position) + " times; index " +
                 std::to_string(*filter.index) + " counts from 0"};
  return chosen;
}

result<void> selection::only(range_expression const& filter, range_tree const& tree,
                             open_ranges const& open, launch_ranges const& launched,
                             text_of_name const& text) {
  tree_ = &tree;
  open_ = &open;
  launched_ = &launched;
  outermost_.clear();
  auto const chosen = ranges_of(filter, tree, text);
  if (!chosen) return error{chosen.message()};
  inside_.assign(tree.size(), false);
  for (auto const range : *chosen) inside_[range] = true;
  for (std::uint32_t i = 0; i < tree.size(); ++i)
    if (auto const outer = around(tree[i], launched.scope()); outer != no_range && inside_[outer])
      inside_[i] = true;
  for (auto const range : *chosen) {
    auto const parent = tree[range].parent;
    if (tree[range].style == range_style::push_pop && (parent == no_range || !inside_[parent]))
      outermost_[tree[range].thread].push_back(range);
  }
  return {};
}

bool selection::launched_inside(std::uint32_t innermost, timestamp_ns launched) const {
  if (innermost != no_range && inside_[innermost]) return true;
  if (launched.value == 0) return false;
  auto const open = open_->at(launched);
  return std::any_of(open.begin(), open.end(), [&](std::uint32_t r) { return inside_[r]; });
}

bool selection::keeps(api_record const& call, thread_index thread) const {
  if (!overlaps(call.start, call.start + call.duration)) return false;
  if (tree_ == nullptr) return true;
  auto const open = open_->at(call.start);
  if (std::any_of(open.begin(), open.end(), [&](std::uint32_t r) { return inside_[r]; }))
    return true;
  auto const of_thread = outermost_.find(thread);
  if (of_thread == outermost_.end()) return false;
  auto const& ranges = of_thread->second;
  auto const after = std::upper_bound(
      ranges.begin(), ranges.end(), call.start,
      [&](timestamp_ns moment, std::uint32_t r) { return moment < (*tree_)[r].begin; });
  return after != ranges.begin() && (*tree_)[*std::prev(after)].end >= call.start;
}

}  // namespace gpuprof::host
