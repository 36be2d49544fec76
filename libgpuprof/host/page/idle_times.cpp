// SPDX-License-Identifier: Apache-2.0
#include "host/page/idle_times.hpp"

#include "host/page/timeline_pieces.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace gpuprof::host::page {

void idle_times::look_into(std::vector<captured_stretch> windows) {
  windows_ = std::move(windows);
}

void idle_times::add(std::uint32_t device, std::string_view cause, std::uint64_t begin_ns,
                     std::uint64_t end_ns) {
  std::pair const wanted(device, cause);
  if (last_ >= lanes_.size() || lanes_[last_] != wanted) {
    auto const known = std::find(lanes_.begin(), lanes_.end(), wanted);
    last_ = static_cast<std::size_t>(known - lanes_.begin());
    if (known == lanes_.end()) {
      lanes_.push_back(wanted);
      for (auto* const bars : {&bars_, &finer_})
        bars->add_lane(std::to_string(device), std::string(cause), device);
    }
  }
  begin_ = std::min(begin_, begin_ns);
  end_ = std::max(end_, end_ns);
  bars_.add(last_, begin_ns, end_ns - begin_ns, 0);
  if (is_in(windows_, begin_ns)) finer_.add(last_, begin_ns, end_ns - begin_ns, 0);
}

// No joined bar lies across a multiple of the stretch: those are the edges of what is exchanged.
void idle_times::finish() {
  auto const stretch = bars_.joined_below_ns();
  if (finer_.joined_below_ns() >= stretch) return;
  for (auto const& window : windows_) {
    auto const begin = (window.begin_ns + stretch - 1) / stretch * stretch;
    auto const end = window.end_ns / stretch * stretch;
    if (begin >= end) continue;
    bars_.take(finer_, begin, end);
    has_finer_ = true;
  }
}

}  // namespace gpuprof::host::page
