// SPDX-License-Identifier: Apache-2.0
#include "lines/source_groups.hpp"

#include "host/analysis/module_tree.hpp"
#include "host/reading/forward_stacks.hpp"
#include "host/reading/time_merge.hpp"
#include "lines/source_texts.hpp"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <utility>

namespace gpuprof::host::command {
namespace {

/// The bytes that each call allocated, by its correlation.
using allocated_bytes = std::unordered_map<std::uint32_t, std::uint64_t>;

allocated_bytes read_allocations(trace_contents& trace) {
  allocated_bytes bytes;
  trace.file().for_each<memory_record>([&](std::span<memory_record const> records) {
    for (auto const& record : records)
      if (record.operation == memory_operation::allocate)
        bytes[raw(record.correlation)] += record.bytes;
  });
  return bytes;
}

struct reading {
  trace_contents& trace;
  selection const& wanted;
  stack_times& times;
  bool has_filter;
  allocated_bytes const& allocated;
  forward_stacks const* forward;
  std::vector<stack_id> const& python_parts;  // empty: stacks count as they are

  stack_id counted(stack_id stack) const {
    if (python_parts.empty()) return stack;
    return raw(stack) < python_parts.size() ? python_parts[raw(stack)] : stack_id{};
  }
  template <class Work>
  void operator()(Work const& work) {
    if (has_filter && !wanted.keeps(work)) return;
    if (forward == nullptr && python_parts.empty()) return times.add(work);
    auto moved = work;
    moved.stack = counted(forward != nullptr ? forward->of(work.range, work.stack) : work.stack);
    times.add(moved);
  }
  void operator()(api_record const& call) {
    auto const thread = trace.thread_of(call.os_thread);
    if (has_filter && !wanted.keeps(call, thread)) return;
    auto const bytes = allocated.find(raw(call.correlation));
    auto moved = call;
    moved.stack = counted(call.stack);
    times.add(moved, thread, bytes == allocated.end() ? 0 : bytes->second);
  }
  void operator()(thread_sample_record const& row) {
    if (!has_filter) times.add(row);
  }
};

/// By stack: its part in Python; 0: it has none. Empty if no stack has native frames.
std::vector<stack_id> python_parts_of(std::vector<stack_record> const& stacks) {
  std::vector<stack_id> parts(stacks.size());
  auto has_native = false;
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    auto const caller = raw(stacks[i].caller);
    auto const is_native = stacks[i].is_native();
    has_native = has_native || is_native;
    parts[i] = !is_native   ? static_cast<stack_id>(i)
               : caller < i ? parts[caller]
                            : stack_id{};  // only a damaged file has such callers
  }
  return has_native ? parts : std::vector<stack_id>{};
}

/// Adds the stacks whose part in Python counts for a group, because work refers to the whole ones.
void add_whole_stacks(std::vector<source_group>& groups, std::vector<stack_id> const& parts) {
  std::unordered_map<stack_id, std::vector<stack_id>> whole;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i] != static_cast<stack_id>(i)) whole[parts[i]].push_back(static_cast<stack_id>(i));
  for (auto& group : groups) {
    auto const known = group.stacks;
    for (auto const part : known)
      if (auto const found = whole.find(part); found != whole.end())
        group.stacks.insert(group.stacks.end(), found->second.begin(), found->second.end());
  }
}

std::function<bool(stack_record const&)> own_files(trace_contents& trace,
                                                   line_options const& options) {
  if (options.whole_stacks) return [](stack_record const&) { return true; };
  return [&trace, folders = options.own](stack_record const& frame) {
    auto const file = trace.text()(frame.file);
    if (frame.is_native() && !is_own_function(trace.text()(frame.function))) return false;
    if (folders.empty()) return frame.is_native() ? is_own_binary(file) : is_own_by_default(file);
    return std::any_of(folders.begin(), folders.end(), [&](std::string const& folder) {
      return file.starts_with(folder) &&
             (file.size() == folder.size() || folder.ends_with('/') || file[folder.size()] == '/');
    });
  };
}

std::string where(trace_contents& trace, stack_record const& frame, stack_grouping grouping) {
  auto const file = trace.text()(frame.file);
  auto const has_place = !file.empty() && (!frame.is_native() || frame.line != 0);
  if (!has_place && grouping != stack_grouping::file)
    return std::string(trace.text()(frame.function));
  auto text = std::string(file.substr(file.rfind('/') + 1));
  auto const line = grouping == stack_grouping::function ? frame.first_line : frame.line;
  if (grouping != stack_grouping::file && line != 0) text += ':' + std::to_string(line);
  return text;
}

std::vector<source_group> groups_of_modules(stack_times const& times,
                                            std::vector<stack_record> const& stacks,
                                            trace_contents& trace, bool folds) {
  module_tree const tree(stacks, [&](name_id name) { return trace.text()(name); });
  std::vector<source_group> made;
  for (auto& group : group_by_module(times, tree, folds)) {
    auto& row = made.emplace_back();
    row.name = group.modules == 0 ? "(no module)" : group.path;
    row.where.type = group.type;
    row.modules = group.modules;
    row.own = group.own;
    row.total_ns = group.total.gpu_ns;
    row.stacks = std::move(group.stacks);
    if (group.modules == 0)
      for (auto const& [thread, _] : times.without_stack()) row.threads.push_back(thread);
  }
  return made;
}

std::vector<source_group> groups_of_frames(stack_times const& times,
                                           std::vector<stack_record> const& stacks,
                                           trace_contents& trace, line_options const& options) {
  source_texts sources(trace);
  std::vector<source_group> made;
  for (auto& group : group_stacks(times, stacks, options.grouping, own_files(trace, options))) {
    auto& row = made.emplace_back();
    auto const file = trace.text()(group.frame.file);
    row.name = where(trace, group.frame, options.grouping);
    row.where.file = file;
    row.is_native = group.frame.is_native();
    if (options.grouping != stack_grouping::file)
      row.where.function = trace.text()(group.frame.function);
    if (options.grouping == stack_grouping::line && !row.is_native) {
      row.where.line = group.frame.line;
      row.where.source = sources.line(row.where.file, group.frame.line);
    }
    row.own = group.own;
    row.total_ns = group.total.gpu_ns;
    row.stacks = std::move(group.stacks);
  }
  auto const has_native =
      !options.python_only && std::ranges::any_of(stacks, &stack_record::is_native);
  for (auto const& [thread, sum] : times.without_stack()) {
    auto& row = made.emplace_back();
    row.name = (has_native ? "(no stack on thread " : "(no Python on thread ") +
               std::to_string(trace.os_thread(thread)) + ")";
    row.own = sum;
    row.total_ns = sum.gpu_ns;
    row.threads.push_back(thread);
  }
  return made;
}

}  // namespace

std::string_view word_of(stack_grouping grouping) noexcept {
  switch (grouping) {
    case stack_grouping::function:
      return "function";
    case stack_grouping::file:
      return "file";
    case stack_grouping::module:
      return "module";
    case stack_grouping::line:
      break;
  }
  return "line";
}

stack_times read_source_times(trace_contents& trace, selection const& wanted,
                              stack_grouping grouping, bool python_only) {
  stack_times times;
  auto const parts = python_only ? python_parts_of(trace.stacks()) : std::vector<stack_id>{};
  std::optional<forward_stacks> forward;
  if (credits_forward(grouping)) forward.emplace(trace);
  auto const allocated = read_allocations(trace);
  for_each_in_time<kernel_record, copy_record, memset_record, graph_record, api_record,
                   thread_sample_record>(
      trace.file(), reading{trace, wanted, times, !wanted.is_everything(), allocated,
                            forward ? &*forward : nullptr, parts});
  times.finish(native_only(trace.stacks()));
  return times;
}

std::vector<source_group> group_by_source(stack_times const& times, trace_contents& trace,
                                          line_options const& options) {
  auto const& stacks = trace.stacks();
  auto groups = options.grouping == stack_grouping::module
                    ? groups_of_modules(times, stacks, trace, !options.each_module)
                    : groups_of_frames(times, stacks, trace, options);
  if (options.python_only) add_whole_stacks(groups, python_parts_of(stacks));
  std::stable_sort(groups.begin(), groups.end(), [](source_group const& a, source_group const& b) {
    return a.own.gpu_ns > b.own.gpu_ns;
  });
  return groups;
}

std::string without_stacks(trace_contents& trace, std::string const& path) {
  if (trace.file().row_count<stack_record>() > 0) return {};
  return path +
         " holds no Python stacks. They are recorded in programs that CPython 3.11 to 3.15 runs, "
         "unless with --python-backtrace none; --cudabacktrace all records those of C and C++";
}

std::optional<roofline_row> roofline_of(source_group const& group, roofline_reading const& read,
                                        roofline const& roofs) {
  auto const work = read.stacks().launched_by(group.stacks, group.threads);
  if (work.empty()) return std::nullopt;
  auto row = roofs.of_parts(work);
  row.name = group.name;
  row.where = group.where;
  row.elapsed_ns = row.total_ns;
  return row;
}

}  // namespace gpuprof::host::command
