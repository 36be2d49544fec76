// SPDX-License-Identifier: Apache-2.0
#include "guest/live/achieved_lines.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace gpuprof::guest {
namespace {

/// A sum over the workloads of a line for which a figure is known.
struct known_sum {
  double sum = 0, weight = 0, line_ns = 0;
  void add(std::optional<double> figure, double times, double of_weight, double ns) noexcept {
    if (!figure || !(of_weight > 0)) return;
    sum += *figure * times;
    weight += of_weight;
    line_ns += ns;
  }
  /// Nothing if it is known for less than half of the line's time.
  std::optional<double> mean(double total_ns) const noexcept {
    if (!(weight > 0) || line_ns < least_known_share * total_ns) return std::nullopt;
    return sum / weight;
  }
};

bool contains(std::span<std::string_view const> names, std::string_view name) noexcept {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void longest_first(std::vector<achieved_line>& lines) {
  std::stable_sort(lines.begin(), lines.end(), [](auto const& a, auto const& b) {
    return std::tie(b.total_ns, a.name) < std::tie(a.total_ns, b.name);
  });
}

}  // namespace

std::optional<std::size_t> place_of_metric(std::string_view name) noexcept {
  auto const counters = flop_counters();
  for (std::size_t i = 0; i < counters.size(); ++i)
    if (counters[i].metric == name) return i;
  if (contains(dram_read_names, name)) return counted_dram_read;
  if (contains(dram_write_names, name)) return counted_dram_write;
  if (name == l2_bytes_name) return counted_l2;
  if (name == sm_clock_name) return counted_clock;
  if (name == occupancy_name) return counted_occupancy;
  if (name == active_cycles_of_sm) return counted_active_cycles;
  if (name == tensor_cycles_of_sm) return counted_tensor_cycles;
  return std::nullopt;
}

achieved_lines::achieved_lines(workload_snapshot const& ran, counted_launches const& counted)
    : ran_(ran), counted_(counted) {
  for (auto const& workload : ran.sums.workloads) figures_.push_back(figures_of(workload));
}

achieved_lines::figures achieved_lines::figures_of(live_workload const& workload) const {
  figures f;
  if (&workload == ran_.sums.workloads.data()) return f;  // all that were not told apart
  f.ns = workload.undisturbed_mean();
  static constexpr counted_launch nothing;
  auto const found = counted_.workloads.find(workload.id);
  auto const& counted = found == counted_.workloads.end() ? nothing : found->second;
  auto const mean = [&](std::size_t place) { return counted.means[place].value(); };
  f.readings = counted.readings;
  counter_means counters;
  for (std::size_t i = 0; i < flop_counter_count; ++i) counters.of[i] = mean(i);
  auto const device = counted_.devices.find(workload.id.device);
  auto const is_known = device != counted_.devices.end();
  if (is_known) counters.was_planned = device->second.planned;
  auto const code = counted_.codes.find(ran_.kernel_names[workload.kernel]);
  auto const has_code = raw(workload.id.graph) == 0 && code != counted_.codes.end();
  f.flop = count_flop(counters, is_known ? std::string_view(device->second.chip) : "",
                      has_code ? &code->second : nullptr);
  if (auto const in = mean(counted_dram_read), out = mean(counted_dram_write); in && out)
    f.dram_bytes = *in + *out;
  f.l2_bytes = mean(counted_l2);
  f.clock = mean(counted_clock);
  if (auto const percent = mean(counted_occupancy)) f.occupancy = *percent / 100;
  auto const tensor = mean(counted_tensor_cycles), active = mean(counted_active_cycles);
  if (tensor && active && *active > 0)  // the counter adds up four parts of an SM
    f.tensor_active = *tensor / *active / 4;
  if (is_known) compare(f, counted, device->second.roofs);
  return f;
}

/// The share of each roof, and which is nearest.
void achieved_lines::compare(figures& f, counted_launch const& counted,
                             measured_roofs const& roofs) const {
  if (!f.ns || !(*f.ns > 0) || roofs.empty()) return;
  auto const share_of = [&](double amount, std::optional<double> roof) -> std::optional<double> {
    if (!roof) return std::nullopt;
    return amount / (*f.ns / 1e9) / *roof;
  };
  if (f.dram_bytes) {
    auto const written = counted.means[counted_dram_write].value().value_or(0);
    f.shares[dram_roof] =
        share_of(*f.dram_bytes, roofs.dram(*f.dram_bytes > 0 ? written / *f.dram_bytes : 0));
  }
  if (f.l2_bytes && f.clock)
    f.shares[l2_roof] = share_of(*f.l2_bytes, roofs.at_clock("l2_read", *f.clock));
  bool every_roof = f.flop.total && f.shares[dram_roof] && f.shares[l2_roof];
  for (std::size_t p = 0; p < precision_count; ++p)
    if (f.flop.of[p] && *f.flop.of[p] == 0) f.shares[compute_roofs + p] = 0;
  for (std::size_t i = 0; i < flop_counter_count; ++i) {
    auto const& counter = flop_counters()[i];
    auto const p = static_cast<std::size_t>(counter.of);
    auto const count = counted.means[i].value().value_or(0);
    if (!(count > 0) || !f.flop.of[p] || !f.clock) continue;
    auto const share =
        share_of(counter.operations * count, roofs.at_clock(counter.peak_test, *f.clock));
    auto& sum = f.shares[compute_roofs + p];
    if (share)
      sum = sum.value_or(0) + *share;
    else
      every_roof = false;
  }
  f.nearest = highest_share(f.shares, every_roof);
}

achieved_line achieved_lines::sum(std::span<part const> parts, judged_by verdict) const {
  achieved_line line;
  std::array<known_sum, precision_count> flops;
  std::array<known_sum, roof_count> shares;
  std::array<bool, precision_count> is_not_judged{};
  known_sum total, dram, l2, clock, occupancy, tensor, of_roof;
  double exact_ns = 0;
  bool is_whole = true, is_by_code = true;
  std::map<std::string_view, std::pair<double, bound_by>> votes;
  for (auto const& [workload, tally] : parts) {
    auto const& f = figures_[workload];
    auto const ns = ran_.sums.workloads[workload].time_of(tally);
    line.launches += tally.launches;
    line.samples += f.readings;
    line.total_ns += ns;
    if (!f.ns) continue;  // only ever seen slowed down
    auto const launches = static_cast<double>(tally.launches);
    auto const time = *f.ns * launches, seconds = time / 1e9;
    for (std::size_t p = 0; p < precision_count; ++p) {
      flops[p].add(f.flop.of[p], launches, seconds, ns);
      is_not_judged[p] =
          is_not_judged[p] || (f.flop.of[p].value_or(0) > 0 && !f.shares[compute_roofs + p]);
    }
    auto const known = f.flop.total ? f.flop.total : f.flop.tensor_alone;
    total.add(known, launches, seconds, ns);
    if (f.flop.total) exact_ns += ns;
    is_whole = is_whole && (!known || f.flop.total);
    is_by_code = is_by_code && (!known || f.flop.is_by_code);
    dram.add(f.dram_bytes, launches, seconds, ns);
    l2.add(f.l2_bytes, launches, seconds, ns);
    clock.add(f.clock, time, time, ns);
    occupancy.add(f.occupancy, time, time, ns);
    tensor.add(f.tensor_active, time, time, ns);
    for (std::size_t i = 0; i < roof_count; ++i) shares[i].add(f.shares[i], time, time, ns);
    if (!f.nearest) continue;
    of_roof.add(f.nearest->share, ns, ns, ns);
    auto& vote = votes[name_of(f.nearest->bound)];
    vote = {vote.first + ns, f.nearest->bound};
  }
  auto const all_ns = line.total_ns;
  if (all_ns > 0) line.exact_share = exact_ns / all_ns;
  for (std::size_t p = 0; p < precision_count; ++p) line.flops[p] = flops[p].mean(all_ns);
  line.total_flops = total.mean(all_ns);
  line.dram_rate = dram.mean(all_ns);
  line.l2_rate = l2.mean(all_ns);
  line.clock = clock.mean(all_ns);
  line.occupancy = occupancy.mean(all_ns);
  line.tensor_active = tensor.mean(all_ns);
  if (line.total_flops)
    line.source = !is_whole    ? flop_source::tensor_counted
                  : is_by_code ? flop_source::machine_code
                               : flop_source::counted;
  for (std::size_t i = 0; i < roof_count; ++i) line.shares[i] = shares[i].mean(all_ns);
  bool every_roof = line.shares[dram_roof] && line.shares[l2_roof] && line.total_flops && is_whole;
  for (std::size_t p = 0; p < precision_count; ++p) {
    // The mean of those that are far from a roof says nothing of the others.
    if (is_not_judged[p]) line.shares[compute_roofs + p].reset();
    if (line.flops[p].value_or(0) > 0 && !line.shares[compute_roofs + p]) every_roof = false;
  }
  if (verdict == judged_by::own_figures) {
    if (auto const nearest = highest_share(line.shares, every_roof)) {
      line.of_roof = nearest->share;
      line.bound = nearest->bound;
    }
  } else if ((line.of_roof = of_roof.mean(all_ns))) {
    auto const most = std::max_element(
        votes.begin(), votes.end(),
        [](auto const& a, auto const& b) { return a.second.first < b.second.first; });
    line.bound = most->second.second;
  }
  return line;
}

achieved_line achieved_lines::all() const {
  std::vector<part> parts;
  for (std::uint32_t i = 0; i < ran_.sums.workloads.size(); ++i)
    parts.push_back({i, ran_.sums.workloads[i].all});
  return sum(parts, judged_by::kernels);
}

std::vector<achieved_line> achieved_lines::by_range() const {
  auto const& sums = ran_.sums;
  std::vector<std::vector<part>> parts(sums.others.size());
  for (auto const& one : sums.parts) parts[one.range].push_back({one.workload, one.tally});
  std::vector<achieved_line> lines;
  for (std::uint32_t range = 0; range < parts.size(); ++range) {
    if (sums.others[range].launches != 0) parts[range].push_back({0, sums.others[range]});
    if (parts[range].empty()) continue;
    auto& line = lines.emplace_back(sum(parts[range], judged_by::kernels));
    line.name = ran_.range_names[range];
    auto const& declared = sums.declared[range];
    auto const declared_ns = static_cast<double>(declared.ns);
    if (line.total_flops || declared.ns == 0 || declared_ns < least_known_share * line.total_ns)
      continue;
    line.total_flops = declared.flops / declared_ns * 1e9;
    line.source = flop_source::declared;
  }
  longest_first(lines);
  return lines;
}

std::vector<achieved_line> achieved_lines::by_kernel() const {
  auto const& workloads = ran_.sums.workloads;
  std::map<std::string, std::vector<part>> parts;
  for (std::uint32_t i = 0; i < workloads.size(); ++i) {
    if (workloads[i].all.launches == 0) continue;
    auto const graph = raw(workloads[i].id.graph);
    parts[graph != 0 ? "[CUDA graph " + std::to_string(graph) + "]"
                     : ran_.kernel_names[workloads[i].kernel]]
        .push_back({i, workloads[i].all});
  }
  std::vector<achieved_line> lines;
  for (auto const& [name, of_name] : parts)
    lines.emplace_back(sum(of_name, judged_by::own_figures)).name = name;
  longest_first(lines);
  return lines;
}

}  // namespace gpuprof::guest
