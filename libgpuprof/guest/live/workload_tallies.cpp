// SPDX-License-Identifier: Apache-2.0
#include "guest/live/workload_tallies.hpp"

#include <algorithm>
#include <utility>

namespace gpuprof::guest {
namespace {

void add(work_tally& to, bool is_new_launch, std::uint64_t ns) noexcept {
  to.launches += is_new_launch;
  to.ns += ns;
}

/// False where its ranges were forgotten meanwhile: it would take its time from others.
bool slow(work_tally& in, std::uint64_t ns) noexcept {
  if (in.ns < ns || in.slowed_launches >= in.launches) return false;
  in.ns -= ns;
  ++in.slowed_launches;
  return true;
}

}  // namespace

std::optional<double> live_workload::undisturbed_mean() const noexcept {
  auto const all_ns = all.ns + slowed_ns;
  if (read_launches < all.launches && read_ns <= all_ns)
    return static_cast<double>(all_ns - read_ns) /
           static_cast<double>(all.launches - read_launches);
  auto const plain = all.launches - all.slowed_launches;
  if (plain > 0) return static_cast<double>(all.ns) / static_cast<double>(plain);
  return std::nullopt;
}

double live_workload::time_of(work_tally const& part) const noexcept {
  auto const ns = static_cast<double>(part.ns);
  if (part.slowed_launches == 0) return ns;
  auto const slowed_mean = static_cast<double>(slowed_ns) /
                           static_cast<double>(std::max<std::uint64_t>(1, all.slowed_launches));
  return ns + undisturbed_mean().value_or(slowed_mean) * static_cast<double>(part.slowed_launches);
}

workload_tallies::workload_tallies(std::size_t range_rows, capacity limits)
    : limits_(limits), workload_numbers_(limits.workloads), part_numbers_(limits.parts) {
  sums_.workloads.reserve(limits.workloads + 1);
  sums_.workloads.emplace_back();
  sums_.parts.reserve(limits.parts);
  sums_.others.resize(range_rows);
  sums_.declared.resize(range_rows);
}

void workload_tallies::count_as_one(device_id device, graph_id graph) {
  counted_as_one_.insert({device, {}, graph});
  last_graph_ = {};
}

bool workload_tallies::counts_as_one(kernel_record const& kernel) noexcept {
  if (raw(kernel.graph) == 0) return false;
  if (kernel.graph != last_graph_ || kernel.device != last_device_) {
    last_graph_ = kernel.graph;
    last_device_ = kernel.device;
    last_counts_as_one_ = counted_as_one_.contains({kernel.device, {}, kernel.graph});
  }
  return last_counts_as_one_;
}

/// 0 if there is no room for it.
std::uint32_t workload_tallies::workload_of(kernel_record const& kernel, bool is_graph,
                                            std::uint32_t kernel_row) {
  auto const what = is_graph ? raw(kernel.graph) : raw(kernel.shape);
  auto const key = std::uint64_t{raw(kernel.device)} << 33 | std::uint64_t{is_graph} << 32 | what;
  auto const found = workload_numbers_.number_of(key);
  if (found.is_new) {
    auto& made = sums_.workloads.emplace_back();  // reserved
    made.id = is_graph ? workload_id{kernel.device, {}, kernel.graph}
                       : workload_id{kernel.device, kernel.shape, {}};
    made.kernel = is_graph ? 0 : kernel_row;
    if (is_graph) graphs_[found.number];
  }
  return found.number;
}

/// Records come only roughly in order, so the kernels of several launches may be mixed.
bool workload_tallies::is_new_launch(std::uint32_t workload, correlation_id correlation) {
  auto& [latest, next] = graphs_[workload];
  if (std::find(latest.begin(), latest.end(), correlation) != latest.end()) return false;
  latest[next] = correlation;
  next = (next + 1) % latest.size();
  return true;
}

void workload_tallies::begin(kernel_record const& kernel, bool is_graph, std::uint32_t kernel_row) {
  workload_ = workload_of(kernel, is_graph, kernel_row);
  is_new_ = !is_graph || workload_ == 0 || is_new_launch(workload_, kernel.correlation);
  is_slowed_ = false;
  ns_ = nanoseconds(kernel.duration);
  gpuprof::guest::add(sums_.workloads[workload_].all, is_new_, ns_);
}

bool workload_tallies::begin_read(kernel_record const& kernel, bool is_graph, std::uint64_t ns,
                                  bool is_slowed) {
  workload_ = workload_of(kernel, is_graph, 0);
  if (workload_ == 0) return false;
  auto& workload = sums_.workloads[workload_];
  ++workload.read_launches;
  workload.read_ns += ns;
  is_slowed_ = is_slowed && slow(workload.all, ns);
  ns_ = ns;
  if (is_slowed_) workload.slowed_ns += ns;
  return is_slowed_;
}

void workload_tallies::add_in(std::uint32_t range_row) {
  auto const key = std::uint64_t{range_row} << 32 | workload_;
  auto const found = workload_ != 0 ? part_numbers_.number_of(key) : key_numbers::numbered{};
  if (found.is_new) sums_.parts.push_back({range_row, workload_, {}});  // reserved
  auto& tally = found.number != 0 ? sums_.parts[found.number - 1].tally : sums_.others[range_row];
  if (is_slowed_)
    slow(tally, ns_);
  else
    gpuprof::guest::add(tally, is_new_, ns_);
}

void workload_tallies::declare(range_id range, double flops,
                               std::vector<std::uint32_t> rows_around) {
  if (declaring_.size() == limits_.declaring_ranges) declaring_.erase(declaring_.begin());
  declaring_[range] = {flops, 0, {}, std::move(rows_around)};
}

void workload_tallies::end_range(range_id range, timestamp_ns time) noexcept {
  if (auto const found = declaring_.find(range); found != declaring_.end())
    found->second.end = time;
}

bool workload_tallies::add_to_declaring(range_id range, duration_ns duration) noexcept {
  auto const found = declaring_.find(range);
  if (found == declaring_.end()) return false;
  found->second.ns += nanoseconds(duration);
  return true;
}

void workload_tallies::settle(timestamp_ns complete_until) {
  std::erase_if(declaring_, [&](auto const& entry) {
    auto const& range = entry.second;
    if (range.end.value == 0 || range.end > complete_until) return false;
    if (range.ns == 0) return true;
    for (auto const row : range.rows) {
      sums_.declared[row].flops += range.flops;
      sums_.declared[row].ns += range.ns;
    }
    return true;
  });
}

}  // namespace gpuprof::guest
