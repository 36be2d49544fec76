// SPDX-License-Identifier: Apache-2.0
#include "host/export/weighed_stacks.hpp"

#include "host/reading/time_merge.hpp"

#include <algorithm>

namespace gpuprof::host {
namespace {

struct stack_visitor {
  trace_contents& trace;
  stack_times& times;
  std::function<void()> const& advance;

  template <class Work>
  void operator()(Work const& work) {
    times.add(work);
    advance();
  }
  void operator()(api_record const& call) {
    times.add(call, trace.thread_of(call.os_thread));
    advance();
  }
};

stack_sum scaled(stack_sum sum, double factor) noexcept {
  for (auto const part : {&stack_sum::launches, &stack_sum::gpu_ns, &stack_sum::idle_ns,
                          &stack_sum::wait_ns, &stack_sum::cpu_ns})
    sum.*part *= factor;
  return sum;
}

}  // namespace

stack_times read_stack_times(trace_contents& trace, std::function<void()> const& advance) {
  stack_times times;
  for_each_in_time<kernel_record, copy_record, memset_record, graph_record, api_record,
                   thread_sample_record>(trace.file(), stack_visitor{trace, times, advance});
  times.finish(native_only(trace.stacks()));
  return times;
}

std::uint32_t weighed_stacks::index_of(stack_frame one) {
  auto const [place, is_new] = known_.try_emplace(one, static_cast<std::uint32_t>(frames_.size()));
  if (is_new) frames_.push_back(std::move(one));
  return place->second;
}

/// Stacks whose own stack was recorded say which kernels and calls those of others are, too.
void weighed_stacks::add_leaves(trace_contents& trace, stack_times const& times, paths const& of) {
  using ran = stack_times::ran::kind;
  using frame = stack_frame::kind;
  std::map<stack_id, std::vector<std::pair<std::uint32_t, stack_sum>>> leaves;
  auto const& labels = trace.labels(kernel_name_style::base);
  times.each_recorded([&](stack_times::ran what, stack_id stack, stack_sum const& sum) {
    auto leaf =
        what.is == ran::kernel
            ? stack_frame{frame::kernel,
                          labels.text(labels.label_of(static_cast<shape_id>(what.id))),
                          {}}
        : what.is == ran::call
            ? stack_frame{frame::call, std::string(trace.text()(static_cast<name_id>(what.id))), {}}
            : stack_frame{frame::other, "copies, fills and graphs", {}};
    leaves[stack].emplace_back(index_of(std::move(leaf)), sum);
  });
  for (auto const& [stack, sum] : times.stacks()) {
    auto const path = of.find(stack);
    if (path == of.end()) continue;
    stack_sum known;
    for (auto const& [_, some] : leaves[stack]) known += some;
    for (auto const& [leaf, some] : leaves[stack]) {
      auto frames = path->second;
      frames.push_back(leaf);
      auto const whole = known.launches > 0 ? sum.launches / known.launches : 1.0;
      stacks_.push_back({std::move(frames), scaled(some, whole)});
    }
    if (sum.cpu_ns > 0) {
      stack_sum cpu;
      cpu.cpu_ns = sum.cpu_ns;
      stacks_.push_back({path->second, cpu});
    }
  }
}

weighed_stacks::weighed_stacks(trace_contents& trace, stack_times const& times,
                               path_of_stack const& path_of) {
  paths of;
  for (auto const& [stack, _] : times.stacks()) {
    auto& path = of[stack];
    for (auto& frame : path_of(stack)) path.push_back(index_of(std::move(frame)));
    if (path.empty()) of.erase(stack);
  }
  add_leaves(trace, times, of);
  auto const has_native = std::ranges::any_of(trace.stacks(), &stack_record::is_native);
  for (auto const& [thread, sum] : times.without_stack())
    stacks_.push_back({{index_of({stack_frame::kind::other,
                                  (has_native ? "(no stack on thread " : "(no Python on thread ") +
                                      std::to_string(trace.os_thread(thread)) + ")",
                                  {}})},
                       sum});
}

weighed_stacks::path_of_stack lines_of_stack(trace_contents& trace,
                                             std::vector<stack_record> const& stacks) {
  return [&trace, &stacks](stack_id stack) {
    std::vector<stack_frame> path;
    for (auto at = raw(stack); at != 0 && at < stacks.size(); at = raw(stacks[at].caller)) {
      auto const& row = stacks[at];
      path.push_back({stack_frame::kind::line, std::string(trace.text()(row.function)),
                      std::string(trace.text()(row.file)), row.first_line, row.line,
                      row.is_native()});
      if (raw(row.caller) >= at) break;  // only a damaged file has such callers
    }
    std::reverse(path.begin(), path.end());
    return path;
  };
}

}  // namespace gpuprof::host
