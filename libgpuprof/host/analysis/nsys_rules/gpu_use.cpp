// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/nsys_rules/gpu_use.hpp"

#include <algorithm>
#include <cmath>

namespace gpuprof::host::nsys_rules {

void gpu_time_use::find_extent(gpu_work const& work) {
  of_device const first{work.start, work.end, work.context, 0, {}};
  auto& of = devices_.try_emplace(work.device, first).first->second;
  if (work.start < of.begin) of.context = work.context;
  of.begin = std::min(of.begin, work.start);
  of.end = std::max(of.end, work.end);
}

void gpu_time_use::add(gpu_work const& work) {
  auto const known = devices_.find(work.device);
  if (known == devices_.end() || work.end <= work.start) return;
  auto& of = known->second;
  if (of.busy_ns.empty()) {
    auto const all = static_cast<std::uint64_t>((of.end - of.begin).value);
    of.chunk_ns = std::max<std::uint64_t>(1, (all + chunks_ - 1) / chunks_);
    of.busy_ns.resize((all + of.chunk_ns - 1) / of.chunk_ns);
  }
  auto from = static_cast<std::uint64_t>((work.start - of.begin).value);
  auto const to = static_cast<std::uint64_t>((work.end - of.begin).value);
  while (from < to) {
    auto const chunk = from / of.chunk_ns;
    auto const until = std::min(to, (chunk + 1) * of.chunk_ns);
    of.busy_ns[chunk] += static_cast<double>(until - from);
    from = until;
  }
}

void gpu_time_use::add_rows(device_id device, of_device const& of, double percent,
                            std::vector<use_row>& rows) const {
  auto const all = static_cast<std::uint64_t>((of.end - of.begin).value);
  double busy = 0;
  bool is_open = false;
  for (std::size_t i = 0; i < of.busy_ns.size(); ++i) {
    auto const begin = i * of.chunk_ns, end = std::min(all, begin + of.chunk_ns);
    auto const size = static_cast<double>(end - begin);
    if (of.busy_ns[i] / size * 100 >= percent) {
      is_open = false;
      continue;
    }
    if (!is_open) {
      rows.push_back({0, 0, {of.begin.value + begin}, device, of.context});
      busy = 0;
    }
    is_open = true;
    auto& row = rows.back();
    busy += of.busy_ns[i];
    row.duration = of.begin.value + end - row.start.value;
    row.percent = std::round(1000 * busy / static_cast<double>(row.duration)) / 10;
  }
}

std::vector<use_row> gpu_time_use::below(double percent) const {
  std::vector<use_row> rows;
  for (auto const& [device, of] : devices_) add_rows(device, of, percent, rows);
  std::stable_sort(rows.begin(), rows.end(), [](auto const& a, auto const& b) {
    return a.percent != b.percent ? a.percent < b.percent : a.duration < b.duration;
  });
  return rows;
}

}  // namespace gpuprof::host::nsys_rules
