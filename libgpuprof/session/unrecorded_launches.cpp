#include "session/unrecorded_launches.hpp"

#include <algorithm>

namespace gpuprof {

void unrecorded_launches::see(kernel_record const& kernel) {
  auto const found = patterns_.find(kernel.correlation);
  if (found == patterns_.end() || found->second) return;
  found->second = kernel;
  --awaited_;
}

std::vector<kernel_record> unrecorded_launches::take() {
  std::vector<kernel_record> made;
  std::erase_if(waiting_, [&](launch_note const& launch) {
    auto const pattern = patterns_.find(launch.alike);
    if (pattern == patterns_.end()) return true;  // of another file: it stays without a record
    if (!pattern->second) return false;
    auto& record = made.emplace_back(*pattern->second);
    record.correlation = launch.correlation;
    record.start = launch.ran_from;
    record.duration = launch.ran_to - launch.ran_from;
    return true;
  });
  return made;
}

}  // namespace gpuprof
