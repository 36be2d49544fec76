// SPDX-License-Identifier: Apache-2.0
// Makes the lines of a roofline: values of workloads, summed by kernel, signature, graph or range.
#include "host/analysis/line_sum.hpp"
#include "host/analysis/roofline.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace gpuprof::host {
namespace {

/// The sum over a graph's kernels is used if they are known for this share of their time.
constexpr double least_known_of_graph = 0.99;
void longest_first(std::vector<roofline_row>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](roofline_row const& a, roofline_row const& b) {
    return std::tie(b.total_ns, a.name) < std::tie(a.total_ns, b.name);
  });
}

}  // namespace

launched_part roofline::whole(std::uint32_t workload) const {
  auto const& tally = times_.tally(workload);
  return {workload, static_cast<double>(tally.launches), times_.time_of(workload, tally)};
}

/// Returns true if the graph's kernels say more than the readings around the whole graph.
bool roofline::is_known_by_nodes(std::uint32_t workload) const noexcept {
  auto const& nodes = times_.nodes(workload);
  auto const& whole = figures_[workload];
  if (nodes.empty() || whole.flop.total) return false;
  double ns = 0, counted_ns = 0, known_ns = 0;
  for (auto const& [node, tally] : nodes) {
    auto const of_node = times_.time_of(node, tally);
    ns += of_node;
    if (figures_[node].flop.total && !figures_[node].fma_flop) counted_ns += of_node;
    if (figures_[node].known_flop()) known_ns += of_node;
  }
  if (counted_ns >= least_known_of_graph * ns) return true;
  return !whole.known_flop() && (whole.samples == 0 || known_ns > 0);
}

void roofline::add_parts(std::vector<launched_part>& parts, launched_part const& whole) const {
  auto const all = times_.tally(whole.workload).launches;
  if (!is_known_by_nodes(whole.workload) || all == 0) {
    parts.push_back(whole);
    return;
  }
  auto const share = whole.launches / static_cast<double>(all);
  for (auto const& [node, of_node] : times_.nodes(whole.workload))
    parts.push_back({node, static_cast<double>(of_node.launches) * share,
                     times_.time_of(node, of_node) * share});
}

std::optional<double> roofline::nodes_exceed(std::uint32_t graph,
                                             std::span<std::string_view const> metrics) const {
  auto const& all = times_.tally(graph);
  double whole = 0, sum = 0, ns = 0, known_ns = 0;
  for (auto const metric : metrics) {
    auto const* const read = metrics_.exact().find(times_.id(graph), metric);
    if (read == nullptr) return std::nullopt;
    whole += read->mean() * static_cast<double>(all.launches);
  }
  for (auto const& [node, of_node] : times_.nodes(graph)) {
    auto const of_part = times_.time_of(node, of_node);
    ns += of_part;
    double amount = 0;
    bool is_known = true;
    for (auto const metric : metrics) {
      auto const figure = metrics_.find(times_.id(node), metric);
      is_known = is_known && figure;
      if (figure) amount += figure->mean;
    }
    if (!is_known) continue;
    known_ns += of_part;
    sum += amount * static_cast<double>(of_node.launches);
  }
  if (!(whole > 0) || known_ns < least_known_of_graph * ns) return std::nullopt;
  return sum / whole - 1;
}

nodes_check roofline::check_nodes(std::uint32_t graph) const {
  nodes_check check;
  std::string_view const tensor[] = {tensor_cycles_of_sm};
  check.tensor_cycles = nodes_exceed(graph, tensor);
  if (metrics_.exact().has_copies(times_.id(graph))) return check;
  for (std::size_t i = 0; i < std::size(dram_read_names) && !check.dram; ++i) {
    std::string_view const dram[] = {dram_read_names[i], dram_write_names[i]};
    check.dram = nodes_exceed(graph, dram);
  }
  std::string_view const l2[] = {l2_bytes_name};
  check.l2 = nodes_exceed(graph, l2);
  return check;
}

roofline_row roofline::sum(std::span<launched_part const> parts, judged_by verdict) const {
  line_sum sum;
  for (auto const& part : parts) sum.add(figures_[part.workload], part.launches, part.ns);
  auto row = sum.row(gpu_ns_);
  row.inferred = times_.inferred(parts);
  if (verdict == judged_by::own_figures)
    judge_by_own_figures(row);
  else
    judge_by_kernels(row, parts);
  find_peak(row, parts);
  return row;
}

/// The mean of the GPUs, weighted by time.
void roofline::find_peak(roofline_row& row, std::span<launched_part const> parts) const {
  std::map<device_id, double> ns_of;
  for (auto const& part : parts) ns_of[times_.id(part.workload).device] += part.ns;
  row.gpus = ns_of.size();
  auto const in = row.main_precision();
  if (!in) return;
  time_weighted peak;
  for (auto const& [id, ns] : ns_of)
    if (auto const device = devices_.find(id); device != devices_.end())
      peak.add(device->second.roofs.burst(key_of(*in)), {ns, ns});
  if (peak.line_ns() >= row.total_ns) row.peak_flops = peak.value();
}

namespace {

void say_what_the_roof_would_give(roofline_row& row) {
  if (!row.of_roof) return;
  auto const too_long = std::max(0.0, 1 - *row.of_roof);
  if (row.mean_ns) row.to_roof_ns = *row.mean_ns * too_long;
  row.below_roof = row.time_share * too_long;
}

}  // namespace

void roofline::judge_by_own_figures(roofline_row& row) const {
  bool every_roof = row.shares[dram_roof] && row.shares[l2_roof] && row.total_flops &&
                    row.source != flop_source::tensor_counted;
  for (std::size_t p = 0; p < precision_count; ++p)
    if (row.flops[p].value_or(0) > 0 && !row.shares[compute_roofs + p]) every_roof = false;
  auto const found = highest_share(row.shares, every_roof, row.tensor_active);
  if (!found) return;
  row.of_roof = found->share;
  row.bound = found->bound;
  say_what_the_roof_would_give(row);
}

void roofline::judge_by_kernels(roofline_row& row, std::span<launched_part const> parts) const {
  time_weighted of_roof;
  std::vector<std::pair<bound_by, double>> votes;
  for (auto const& part : parts) {
    auto const& f = figures_[part.workload];
    if (!f.best) continue;
    of_roof.add(f.best, {part.ns, part.ns});
    auto vote =
        std::find_if(votes.begin(), votes.end(), [&](auto const& v) { return v.first == f.bound; });
    if (vote == votes.end()) vote = votes.insert(vote, {f.bound, 0});
    vote->second += part.ns;
  }
  if (votes.empty() || of_roof.line_ns() < least_known_share * row.total_ns) return;
  row.of_roof = of_roof.value();
  row.roof_known_ns = of_roof.line_ns();
  row.bound = std::max_element(votes.begin(), votes.end(), [](auto const& a, auto const& b) {
                return a.second < b.second;
              })->first;
  say_what_the_roof_would_give(row);
}

std::vector<roofline_row> roofline::by_signature(kernel_labels const& labels,
                                                 std::span<kernel_shape const> shapes) const {
  std::map<shape_id, kernel_shape const*> by_id;
  for (auto const& shape : shapes) by_id[shape.id] = &shape;
  using extents = std::tuple<std::string, extent3, extent3, std::uint32_t>;
  std::map<extents, std::map<std::uint32_t, std::vector<launched_part>>> lines;
  for (std::uint32_t i = 0; i < times_.size(); ++i) {
    if (times_.is_level_above(i)) continue;
    auto const& id = times_.id(i);
    auto const shape = by_id.find(id.shape);
    auto const name = listed_name(id, labels);
    if (raw(id.graph) != 0 || shape == by_id.end())
      lines[{name, {}, {}, 0}][0].push_back(whole(i));
    else
      lines[{name, shape->second->grid, shape->second->block, shape->second->dynamic_shared_bytes}]
           [shape->second->arguments]
               .push_back(whole(i));
  }
  std::vector<roofline_row> rows;
  for (auto const& [key, by_arguments] : lines) {
    for (auto const& [arguments, parts] : by_arguments) {
      auto& row = rows.emplace_back(sum(parts, judged_by::own_figures));
      row.name = std::get<0>(key);
      row.grid = std::get<1>(key);
      row.block = std::get<2>(key);
      if (by_arguments.size() > 1) row.arguments = arguments;
    }
  }
  longest_first(rows);
  return rows;
}

std::vector<roofline_row> roofline::by_kernel(kernel_labels const& labels) const {
  return by_label(labels, false);
}

std::vector<roofline_row> roofline::by_kind(kernel_labels const& kinds) const {
  return by_label(kinds, true);
}

std::vector<roofline_row> roofline::by_label(kernel_labels const& labels,
                                             bool has_many_kernels) const {
  std::map<std::string, std::vector<launched_part>> lines;
  std::map<std::string, std::set<shape_id>> shapes;
  for (std::uint32_t i = 0; i < times_.size(); ++i) {
    if (times_.is_level_above(i)) continue;
    auto const name = listed_name(times_.id(i), labels);
    lines[name].push_back(whole(i));
    shapes[name].insert(times_.id(i).shape);
  }
  std::vector<roofline_row> rows;
  for (auto const& [name, parts] : lines) {
    auto& row = rows.emplace_back(
        sum(parts, has_many_kernels ? judged_by::kernels : judged_by::own_figures));
    row.name = name;
    if (!has_many_kernels) row.shapes = shapes[name].size();
  }
  longest_first(rows);
  return rows;
}

roofline_row roofline::all() const {
  std::vector<launched_part> parts;
  for (std::uint32_t i = 0; i < times_.size(); ++i)
    if (!times_.is_level_above(i)) parts.push_back(whole(i));
  return sum(parts, judged_by::kernels);
}

std::vector<roofline_row> roofline::by_graph(kernel_labels const& labels) const {
  std::vector<roofline_row> rows;
  std::vector<launched_part> parts;
  for (std::uint32_t i = 0; i < times_.size(); ++i) {
    if (raw(times_.id(i).graph) == 0) continue;
    auto const& tally = times_.tally(i);
    parts.clear();
    add_parts(parts, whole(i));
    auto& row = rows.emplace_back(sum(parts, judged_by::kernels));
    row.name = listed_name(times_.id(i), labels);
    row.launches = tally.launches;
    row.samples = metrics_.exact().samples_of(times_.id(i));
    row.mean_ns = times_.undisturbed_mean(i);
    say_what_the_roof_would_give(row);
    row.nodes = check_nodes(i);
  }
  longest_first(rows);
  return rows;
}

roofline_row roofline::of_parts(std::span<launched_part const> work) const {
  std::vector<launched_part> parts;
  for (auto const& part : work) add_parts(parts, part);
  return sum(parts, judged_by::kernels);
}

roofline_row roofline::of_range(range_work const& range) const {
  std::vector<launched_part> work;
  for (auto const& [workload, tally] : range.workloads)
    work.push_back(
        {workload, static_cast<double>(tally.launches), times_.time_of(workload, tally)});
  auto row = of_parts(work);
  row.instances = range.instances;
  row.lasts(static_cast<double>(range.length_ns));
  auto const declared_ns = static_cast<double>(range.declared_ns);
  if (declared_ns >= least_known_of_utilization * row.total_ns)
    row.declared_flop = range.declared_flops;
  if (row.total_flops || range.declared_ns == 0 || declared_ns < least_known_share * row.total_ns)
    return row;
  row.total_flops = range.declared_flops / declared_ns * 1e9;
  row.source = flop_source::declared;
  return row;
}

std::vector<roofline_row> roofline::by_range(
    std::span<range_work const> ranges,
    std::function<std::string(range_key)> const& name_of_range) const {
  std::vector<roofline_row> rows;
  for (auto const& range : ranges) {
    auto& row = rows.emplace_back(of_range(range));
    row.name = range.is_outside ? std::string(outside_ranges_name) : name_of_range(range.key);
  }
  longest_first(rows);
  return rows;
}

}  // namespace gpuprof::host
