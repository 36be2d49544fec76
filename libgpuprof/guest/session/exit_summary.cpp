// SPDX-License-Identifier: Apache-2.0
#include "guest/session/exit_summary.hpp"

#include "base/log.hpp"
#include "base/process.hpp"
#include "guest/live/summary.hpp"

#include <algorithm>
#include <string_view>

namespace gpuprof::guest {

void print_exit_summary(live_snapshot const& totals, named_counters const& counters) {
  text::overview about;
  about.program = command_line();
  about.records = {{"kernels", totals.kernel_count}, {"graphs", totals.graph_count}};
  std::uint64_t copies = 0, fills = 0;
  for (auto const& copy : totals.copies) (copy.is_fill ? fills : copies) += copy.count;
  about.records.push_back({"copies", copies});
  about.records.push_back({"fills", fills});
  for (auto const& [name, value] : counters) text::add_counter(about, name, value);
  auto const text = summary_text(about, totals);
  for (std::size_t from = 0; from < text.size();) {
    auto const to = std::min(text.find('\n', from), text.size());
    log_info(std::string_view(text).substr(from, to - from));
    from = to + 1;
  }
}

}  // namespace gpuprof::guest
