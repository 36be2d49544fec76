// SPDX-License-Identifier: Apache-2.0
#include "host/reading/forward_stacks.hpp"

#include "host/reading/capture_walk.hpp"
#include "model/torch_ranges.hpp"

namespace gpuprof::host {

name_id domain_of_operators(range_tree const& tree, text_of_name const& text) {
  for (auto const& range : tree.ranges())
    if (raw(range.domain) != 0 && text(range.domain) == torch_domain) return range.domain;
  return {};
}

forward_stacks::forward_stacks(trace_contents& trace) {
  if (!trace.ranges().has_left_out()) return;
  tree_ = trace.read_ranges();
  auto& times = times_.emplace(tree_, domain_of_operators(tree_, trace.text()));
  capture_walk walk(trace.file());
  walk.add_each<range_begin>(capture::only(&range_begin::range, &range_begin::category,
                                           &range_begin::payload, &range_begin::payload_bits),
                             [&](range_begin const& begin) { times.add(begin); });
  walk.add_each<kernel_record>(
      capture::only(&kernel_record::range, &kernel_record::duration, &kernel_record::stack),
      [&](kernel_record const& kernel) { times.add(kernel); });
  walk.run();
  times.finish();
}

}  // namespace gpuprof::host
