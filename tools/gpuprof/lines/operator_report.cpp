// SPDX-License-Identifier: Apache-2.0
#include "base/readable.hpp"
#include "host/reading/capture_walk.hpp"
#include "host/reading/forward_stacks.hpp"
#include "host/report/owned_rows.hpp"
#include "lines/line_report.hpp"
#include "lines/stack_places.hpp"
#include "texts.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace gpuprof::host::command {
namespace {

using report::append_cells;
using report::owned_rows;
using report::percent;
using report::whole;

/// Numbers the lines of the program.
class numbered_places {
 public:
  explicit numbered_places(stack_places const& places) : places_(places) {}
  std::uint32_t number_of(stack_id stack) {
    auto const [at, is_new] = of_stack_.try_emplace(stack);
    if (is_new) {
      auto const* const frame = places_.own_frame_of(stack);
      auto const [known, is_new_place] =
          numbers_.try_emplace(places_.where(frame), static_cast<std::uint32_t>(texts_.size()));
      if (is_new_place) texts_.push_back(known->first);
      at->second = known->second;
    }
    return at->second;
  }
  /// "train.py:61"; empty if the stack is not known.
  std::string const& text(std::uint32_t number) const { return texts_[number]; }

 private:
  stack_places const& places_;
  std::map<stack_id, std::uint32_t> of_stack_;
  std::map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> texts_;
};

std::vector<text::column> columns() {
  using text::column_kind;
  return {{"Share", column_kind::share, 6},
          {"Self GPU Time", column_kind::mean_time},
          {"GPU Time", column_kind::mean_time},
          {"Launches", column_kind::integer, 3},
          {"Self CPU Time", column_kind::mean_time, 4},
          {"CPU Time", column_kind::mean_time, 2},
          {"Instances", column_kind::integer, 1},
          {"Called At", column_kind::text, 5},
          {"Operator", column_kind::text, text::never_left_out}};
}

}  // namespace

finished_report operator_report(trace_contents& trace, selection const& wanted,
                                std::string const& path, bool by_line) {
  finished_report finished;
  auto const tree = trace.read_ranges();
  operator_times times(tree, domain_of_operators(tree, trace.text()));
  if (!times.has_operators()) {
    finished.missing =
        path + " holds no operators of PyTorch; gpuprof profile --pytorch ops records them";
    return finished;
  }
  auto const has_filter = !wanted.is_everything();
  capture_walk walk(trace.file());
  walk.add_each<range_begin>({}, [&](range_begin const& begin) { times.add(begin); });
  auto const take = [&](auto const& work) {
    if (!has_filter || wanted.keeps(work)) times.add(work);
  };
  walk.add_each<kernel_record>({}, take);
  walk.add_each<copy_record>({}, take);
  walk.add_each<memset_record>({}, take);
  walk.add_each<graph_record>({}, take);
  walk.run();
  times.finish();

  stack_places const stacks(trace);
  numbered_places places(stacks);
  std::function<bool(std::uint32_t)> counts;
  if (has_filter)
    counts = [&](std::uint32_t range) {
      return wanted.keeps_inside(trace.ranges().index_of(tree[range].id), tree[range].begin,
                                 tree[range].end);
    };
  auto rows = times.rows([&](stack_id stack) { return places.number_of(stack); }, by_line, counts);
  std::ranges::sort(rows, [&](operator_row const& a, operator_row const& b) {
    return std::tuple(b.own_gpu_ns, b.gpu_ns, b.own_cpu_ns, trace.text()(a.name)) <
           std::tuple(a.own_gpu_ns, a.gpu_ns, a.own_cpu_ns, trace.text()(b.name));
  });
  owned_rows made;
  for (auto const& row : rows) {
    text::row cells;
    append_cells(cells,
                 {percent(row.own_gpu_ns, times.all_gpu_ns()), static_cast<double>(row.own_gpu_ns),
                  static_cast<double>(row.gpu_ns), whole(row.launches), row.own_cpu_ns, row.cpu_ns,
                  whole(row.instances), made.keep(places.text(row.place)), trace.text()(row.name)});
    made.rows.push_back(std::move(cells));
  }
  finished.table = report::table_of("torch_op_sum", "GPU work by operator of PyTorch", columns(),
                                    std::move(made));
  finished.notes.push_back(
      percent_of(static_cast<double>(times.outside_gpu_ns()) /
                 std::max(1.0, static_cast<double>(times.all_gpu_ns()))) +
      " of the GPU time was launched by no operator; of an autograd node, the line is that of the "
      "forward pass");
  return finished;
}

}  // namespace gpuprof::host::command
