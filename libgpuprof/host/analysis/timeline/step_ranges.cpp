// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/timeline/step_ranges.hpp"

#include <utility>

namespace gpuprof::host {

step_ranges number_steps(range_tree const& tree, text_of_name const& text, std::string_view name) {
  auto steps = name.empty() ? find_steps(tree, text) : steps_named(tree, text, name);
  step_ranges found{
      .name = std::move(steps.name), .instances = std::move(steps.instances), .step_of_range = {}};
  if (found.instances.empty()) return found;
  found.step_of_range.assign(tree.size(), no_step);
  for (std::uint32_t step = 0; step < found.instances.size(); ++step)
    found.step_of_range[found.instances[step]] = step;
  for (std::uint32_t i = 0; i < tree.size(); ++i)  // enclosing ranges come first
    if (auto const parent = tree[i].around();
        parent != no_range && found.step_of_range[i] == no_step)
      found.step_of_range[i] = found.step_of_range[parent];
  return found;
}

}  // namespace gpuprof::host
