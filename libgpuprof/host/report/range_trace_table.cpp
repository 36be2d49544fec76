// SPDX-License-Identifier: Apache-2.0
#include "host/report/range_trace_table.hpp"

#include "host/report/summary_tables.hpp"

#include <string>
#include <utility>
#include <vector>

namespace gpuprof::report {
namespace {

std::vector<column> range_trace_columns() {
  using enum column_kind;
  return {{"Start", column_kind::time},
          {"End", column_kind::time},
          {"Duration", column_kind::time},
          {"DurChild", column_kind::time},
          {"DurNonChild", column_kind::time},
          {"Name"},
          {"PID", integer},
          {"TID", integer},
          {"Lvl", integer},
          {"NumChild", integer},
          {"RangeId", integer},
          {"ParentId", integer},
          {"RangeStack"},
          {"NameTree"}};
}

struct children {
  duration_ns duration{};
  std::uint32_t count = 0;
};

bool is_pushed(traced_range const& range) noexcept {
  return range.style == range_style::push_pop;
}

std::vector<children> children_of(range_tree const& tree) {
  std::vector<children> of(tree.size());
  for (auto const& range : tree.ranges()) {
    if (!is_pushed(range) || range.parent == no_range) continue;
    of[range.parent].duration = of[range.parent].duration + range.duration();
    ++of[range.parent].count;
  }
  return of;
}

std::int64_t number_of(std::uint32_t range) noexcept {
  return std::int64_t{range} + 1;
}

/// ":1:4:5", the outermost first.
std::string stack_of(range_tree const& tree, std::uint32_t range) {
  std::string stack;
  for (; range != no_range; range = tree[range].parent)
    stack.insert(0, ":" + std::to_string(number_of(range)));
  return stack;
}

}  // namespace

table range_trace_table(range_tree const& tree, range_filter keeps, range_trace_context context) {
  return {"nvtx_pushpop_trace", "NVTX Push/Pop Range Trace", range_trace_columns(),
          [&tree, keeps = std::move(keeps), context = std::move(context),
           inside = children_of(tree)](std::function<void(row const&)> const& take) {
            for (std::uint32_t i = 0; i < tree.size(); ++i) {
              auto const& range = tree[i];
              if (!is_pushed(range) || (keeps && !keeps(i))) continue;
              auto const name = range_name(key_of(range), context.text);
              auto const stack = stack_of(tree, i);
              auto const indented = std::string(std::size_t{2} * range.level, '-') + name;
              auto const start = range.begin - context.origin;
              auto const own = range.duration() - inside[i].duration;
              auto const has_parent = range.parent != no_range;
              take({start.value, (start + range.duration()).value, range.duration().value,
                    inside[i].duration.value, own.value, std::string_view(name),
                    std::int64_t{context.process}, std::int64_t{context.os_thread(range.thread)},
                    std::int64_t{range.level}, std::int64_t{inside[i].count}, number_of(i),
                    has_parent ? cell(number_of(range.parent)) : cell(), std::string_view(stack),
                    std::string_view(indented)});
            }
          }};
}

}  // namespace gpuprof::report
