// The lines of a roofline: figures of workloads, summed up by kernel, signature, graph or range.
#include "analyse/roofline.hpp"
#include "analyse/roofline_metrics.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace gpuprof {
namespace {

/// Of the time of a graph's kernels: where less of it is known, their sum says little.
constexpr double least_known_of_graph = 0.99;
/// Of a part of a line: what it takes of the line, and what its launches take where nobody counts.
struct part_time {
  double of_line_ns = 0, undisturbed_ns = 0;
};

/// A mean that is weighted by time, of those values that are known.
class weighted {
 public:
  void add(std::optional<double> value, part_time const& time, double error = 0) noexcept {
    auto const weight = time.undisturbed_ns;
    if (!value || weight <= 0) return;
    sum_ += *value * weight;
    weight_ += weight;
    error_ = std::hypot(error_, error * weight);
    line_ns_ += time.of_line_ns;
  }
  double line_ns() const noexcept { return line_ns_; }
  std::optional<double> value() const noexcept {
    if (weight_ <= 0) return std::nullopt;
    return sum_ / weight_;
  }
  std::optional<double> error() const noexcept {
    if (weight_ <= 0 || !(error_ > 0)) return std::nullopt;
    return error_ / weight_;
  }

 private:
  double sum_ = 0, weight_ = 0, error_ = 0, line_ns_ = 0;
};

/// Amounts over the time they took, a second. Errors are those of each workload, not of each
/// launch; `bias` is that of a rule which may be off for all of them alike: it does not average
/// out.
class rate {
 public:
  void add(std::optional<double> amount, double launches, part_time const& time, double error = 0,
           double bias = 0) noexcept {
    if (!amount || time.undisturbed_ns <= 0) return;
    amount_ += *amount * launches;
    error_ = std::hypot(error_, error * launches);
    bias_ += bias * launches;
    ns_ += time.undisturbed_ns;
    line_ns_ += time.of_line_ns;
  }
  double line_ns() const noexcept { return line_ns_; }
  std::optional<double> value() const noexcept {
    if (ns_ <= 0) return std::nullopt;
    return amount_ / ns_ * 1e9;
  }
  std::optional<double> error() const noexcept {
    auto const error = std::hypot(error_, bias_);
    if (ns_ <= 0 || !(error > 0)) return std::nullopt;
    return error / ns_ * 1e9;
  }

 private:
  double amount_ = 0, ns_ = 0, error_ = 0, bias_ = 0, line_ns_ = 0;
};

/// One amount per another, of the launches where both are known.
class ratio {
 public:
  void add(std::optional<double> above, std::optional<double> below, double launches,
           part_time const& time) noexcept {
    if (!above || !below) return;
    above_ += *above * launches;
    below_ += *below * launches;
    line_ns_ += time.of_line_ns;
  }
  double line_ns() const noexcept { return line_ns_; }
  std::optional<double> value() const noexcept {
    if (below_ <= 0) return std::nullopt;
    return above_ / below_;
  }

 private:
  double above_ = 0, below_ = 0, line_ns_ = 0;
};

void add_sources(figure_sources& all, figure_sources const& more) noexcept {
  all.dram = both(all.dram, more.dram);
  all.l2 = both(all.l2, more.l2);
  all.clock = both(all.clock, more.clock);
  all.occupancy = both(all.occupancy, more.occupancy);
  all.tensor = both(all.tensor, more.tensor);
  all.is_shared = all.is_shared || more.is_shared;
}

void longest_first(std::vector<roofline_row>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](roofline_row const& a, roofline_row const& b) {
    return std::tie(b.total_ns, a.name) < std::tie(a.total_ns, b.name);
  });
}

}  // namespace

roofline::launched_part roofline::whole(std::uint32_t workload) const {
  auto const& tally = times_.tally(workload);
  return {workload, tally.launches, times_.time_of(workload, tally)};
}

/// Of a graph that was not read as a whole, or not for all operations, its kernels may tell more.
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

void roofline::add_parts(std::vector<launched_part>& parts, std::uint32_t workload,
                         launch_tally const& tally) const {
  auto const all = times_.tally(workload).launches;
  if (!is_known_by_nodes(workload) || all == 0) {
    parts.push_back({workload, tally.launches, times_.time_of(workload, tally)});
    return;
  }
  for (auto const& [node, of_node] : times_.nodes(workload)) {
    auto const share = static_cast<double>(tally.launches) / static_cast<double>(all);
    auto const launches = static_cast<double>(of_node.launches) * share;
    parts.push_back({node, static_cast<std::uint64_t>(std::llround(launches)),
                     times_.time_of(node, of_node) * share});
  }
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
  roofline_row row;
  std::array<rate, precision_count> flops;
  rate total, dram, l2;
  ratio intensity, l2_intensity;
  std::array<weighted, roof_count> shares;
  std::array<bool, precision_count> is_not_judged{};
  weighted clock, clock_loss, occupancy, tensor;
  double counted_ns = 0, known_launches = 0, known_ns = 0;
  bool is_whole = true, is_by_cycles = false, is_sampled = false, is_by_code = true;
  for (auto const& part : parts) {
    auto const& f = figures_[part.workload];
    auto const n = static_cast<double>(part.launches);
    row.launches += part.launches;
    row.samples += f.samples;
    row.read_by_ranks.insert(f.read_by_ranks.begin(), f.read_by_ranks.end());
    row.total_ns += part.ns;
    if (!f.mean_ns) continue;  // only ever seen slowed down
    known_launches += n;
    known_ns += *f.mean_ns * n;
    part_time const time{part.ns, *f.mean_ns * n};
    for (std::size_t p = 0; p < precision_count; ++p) {
      auto const error = f.error_of(static_cast<precision>(p));
      flops[p].add(f.flop.of[p], n, time, error.by_chance, error.bias);
      is_not_judged[p] =
          is_not_judged[p] || (f.flop.of[p].value_or(0) > 0 && !f.shares[compute_roofs + p]);
    }
    auto const known = f.known_flop();
    is_whole = is_whole && (!known || f.flop.total);
    is_by_cycles = is_by_cycles || f.cycles_flop;
    is_sampled = is_sampled || f.cycles_are_sampled || f.fma_flop;
    is_by_code = is_by_code && (!known || f.flop.is_by_code);
    auto const error = f.flop_error();
    total.add(known, n, time, error.by_chance, error.bias);
    if (f.is_exact()) counted_ns += part.ns;
    dram.add(f.dram_bytes, n, time, f.dram_error);
    l2.add(f.l2_bytes, n, time, f.l2_error);
    add_sources(row.from, f.from);
    intensity.add(known, f.dram_bytes, n, time);
    l2_intensity.add(known, f.l2_bytes, n, time);
    for (std::size_t i = 0; i < roof_count; ++i) shares[i].add(f.shares[i], time);
    clock.add(f.clock, time, f.clock_error);
    clock_loss.add(f.clock_loss, time);
    occupancy.add(f.occupancy, time, f.occupancy_error);
    tensor.add(f.tensor_active, time, f.tensor_error);
  }
  row.time_share = gpu_ns_ > 0 ? row.total_ns / gpu_ns_ : 0;
  if (known_launches > 0) row.mean_ns = known_ns / known_launches;
  if (total.value())
    row.source = is_whole && is_sampled ? flop_source::sampled
                 : is_by_cycles         ? flop_source::tensor_cycles
                 : !is_whole            ? flop_source::tensor_counted
                 : is_by_code           ? flop_source::machine_code
                                        : flop_source::counted;
  auto const share_of = [&](auto const& figure) {
    return row.total_ns > 0 ? figure.line_ns() / row.total_ns : 0;
  };
  row.counted_share = row.total_ns > 0 ? counted_ns / row.total_ns : 0;
  row.known_share = share_of(total);
  row.known = {share_of(dram), share_of(l2), share_of(clock), share_of(occupancy),
               share_of(tensor)};
  auto const take = [&](auto const& figure, std::optional<double>& value,
                        std::optional<double>* error = nullptr) {
    if (share_of(figure) < least_known_share) return;
    value = figure.value();
    if constexpr (requires { figure.error(); })
      if (error != nullptr) *error = figure.error();
  };
  for (std::size_t p = 0; p < precision_count; ++p)
    take(flops[p], row.flops[p], &row.flops_error[p]);
  take(total, row.total_flops, &row.total_flops_error);
  take(dram, row.dram_rate, &row.dram_error);
  take(l2, row.l2_rate, &row.l2_error);
  take(intensity, row.intensity);
  take(l2_intensity, row.l2_intensity);
  take(clock, row.clock, &row.clock_error);
  take(clock_loss, row.clock_loss);
  take(occupancy, row.occupancy, &row.occupancy_error);
  take(tensor, row.tensor_active, &row.tensor_active_error);
  for (std::size_t i = 0; i < roof_count; ++i) take(shares[i], row.shares[i]);
  // The mean of those that are far from a roof says nothing of the others.
  for (std::size_t p = 0; p < precision_count; ++p)
    if (is_not_judged[p]) row.shares[compute_roofs + p].reset();
  if (verdict == judged_by::own_figures)
    judge_by_own_figures(row);
  else
    judge_by_kernels(row, parts);
  return row;
}

namespace {

void say_what_the_roof_would_give(roofline_row& row) {
  if (!row.of_roof) return;
  auto const too_long = std::max(0.0, 1 - *row.of_roof);
  if (row.mean_ns) row.to_roof_ns = *row.mean_ns * too_long;
  row.potential_gain = row.time_share * too_long;
}

}  // namespace

void roofline::judge_by_own_figures(roofline_row& row) const {
  bool every_roof = row.shares[dram_roof] && row.shares[l2_roof] && row.total_flops &&
                    row.source != flop_source::tensor_counted;
  for (std::size_t p = 0; p < precision_count; ++p)
    if (row.flops[p].value_or(0) > 0 && !row.shares[compute_roofs + p]) every_roof = false;
  auto const found = highest_share(row.shares, every_roof);
  if (!found) return;
  row.of_roof = found->share;
  row.bound = found->bound;
  say_what_the_roof_would_give(row);
}

void roofline::judge_by_kernels(roofline_row& row, std::span<launched_part const> parts) const {
  weighted of_roof;
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
  std::map<std::string, std::vector<launched_part>> lines;
  for (std::uint32_t i = 0; i < times_.size(); ++i)
    if (!times_.is_level_above(i)) lines[listed_name(times_.id(i), labels)].push_back(whole(i));
  std::vector<roofline_row> rows;
  for (auto const& [name, parts] : lines) {
    auto& row = rows.emplace_back(sum(parts, judged_by::own_figures));
    row.name = name;
  }
  longest_first(rows);
  return rows;
}

std::vector<roofline_row> roofline::by_graph(kernel_labels const& labels) const {
  std::vector<roofline_row> rows;
  std::vector<launched_part> parts;
  for (std::uint32_t i = 0; i < times_.size(); ++i) {
    if (raw(times_.id(i).graph) == 0) continue;
    auto const& tally = times_.tally(i);
    parts.clear();
    add_parts(parts, i, tally);
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

std::vector<roofline_row> roofline::by_range(
    std::span<range_work const> ranges,
    std::function<std::string(range_key)> const& name_of_range) const {
  std::vector<roofline_row> rows;
  std::vector<launched_part> parts;
  for (auto const& range : ranges) {
    parts.clear();
    for (auto const& [workload, tally] : range.workloads) add_parts(parts, workload, tally);
    auto& row = rows.emplace_back(sum(parts, judged_by::kernels));
    row.name = range.is_outside ? std::string(outside_ranges_name) : name_of_range(range.key);
    row.instances = range.instances;
    if (row.total_flops || range.declared_ns == 0) continue;
    row.total_flops = range.declared_flops / static_cast<double>(range.declared_ns) * 1e9;
    row.source = flop_source::declared;
  }
  longest_first(rows);
  return rows;
}

}  // namespace gpuprof
