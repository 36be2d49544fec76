// SPDX-License-Identifier: Apache-2.0
#include "collective_kernels.hpp"

#include "model/kernel_name.hpp"

#include <map>

namespace gpuprof::host::command {

std::vector<bool> find_collectives(trace_contents& trace) {
  std::vector<bool> found;
  std::map<name_id, bool> answers;  // a kernel has one shape per grid and block
  for (auto const& shape : trace.shapes()) {
    auto const id = std::size_t{raw(shape.id)};
    if (id > largest_shape) continue;
    auto const [answer, is_new] = answers.try_emplace(shape.name);
    if (is_new) answer->second = is_named_as_collective(trace.text()(shape.name));
    if (id >= found.size()) found.resize(id + 1);
    found[id] = answer->second;
  }
  return found;
}

}  // namespace gpuprof::host::command
