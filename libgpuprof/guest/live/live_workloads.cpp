// SPDX-License-Identifier: Apache-2.0
#include "guest/live/live_workloads.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace gpuprof::guest {
namespace {

constexpr std::uint32_t outside = 0;  // path of launches outside all ranges
constexpr std::uint32_t other_workload = 0;
constexpr workload_id no_workload{static_cast<device_id>(~0u), {}, {}};
constexpr std::size_t max_start_end = 16;  // limit of start/end ranges around one launch

void add_to(launch_tally& sum, launch_tally const& more) {
  sum.launches += more.launches;
  sum.slowed_launches += more.slowed_launches;
  sum.ns += more.ns;
  sum.slowed_ns += more.slowed_ns;
}

}  // namespace

live_workloads::live_workloads(std::function<std::string_view(name_id)> text, capacity limits)
    : text_(std::move(text)),
      limits_(limits),
      recent_(limits.recent_ranges, limits.recent_start_end),
      cell_index_(std::bit_ceil(2 * limits.cells + 2)),
      declared_(recent_.places()) {
  sums_.paths.emplace_back();
  sums_.workloads.push_back({no_workload, {}, 0});
  sums_.range_names.emplace_back("(other)");
  sums_.paths.reserve(limits_.paths + 1);
  sums_.workloads.reserve(limits_.workloads + 1);
  sums_.cells.reserve(limits_.cells);
}

void live_workloads::add(kernel_shape const& shape) {
  auto const id = raw(shape.id);
  if (id > largest_shape) return;
  if (id >= shape_names_.size()) shape_names_.resize(id + 64);
  shape_names_[id] = shape.name;
}

std::uint32_t live_workloads::name_of(range_begin const& begin) {
  auto const of = std::uint64_t{raw(begin.domain)} << 32 | raw(begin.name);
  if (auto const known = name_index_.find(of); known != name_index_.end()) return known->second;
  if (sums_.range_names.size() > limits_.range_names) return 0;
  auto text = std::string(text_(begin.domain));
  if (!text.empty()) text += ':';
  text += text_(begin.name);
  sums_.range_names.push_back(std::move(text));
  return name_index_[of] = static_cast<std::uint32_t>(sums_.range_names.size() - 1);
}

/// Returns `parent` if there is no room for another path: the launches then count in the ranges
/// around it.
std::uint32_t live_workloads::path_of(std::uint32_t parent, std::uint32_t name, range_style style) {
  auto const of = std::uint64_t{parent} << 33 | std::uint64_t{name} << 1 |
                  (style == range_style::start_end ? 1 : 0);
  if (auto const known = path_index_.find(of); known != path_index_.end()) return known->second;
  if (sums_.paths.size() > limits_.paths) {
    ++sums_.ranges_left_out;
    return parent;
  }
  sums_.paths.push_back({parent, name, style, {}});
  return path_index_[of] = static_cast<std::uint32_t>(sums_.paths.size() - 1);
}

void live_workloads::add(range_begin const& begin) {
  auto const* const around =
      begin.style == range_style::push_pop ? recent_.find(begin.parent) : nullptr;
  auto const parent = around != nullptr ? around->label : outside;
  auto const& kept = recent_.begin(begin, path_of(parent, name_of(begin), begin.style));
  auto const at = recent_.place_of(kept);
  declared_.begin(at, kept.label, begin.declared_flops);
  if (at == last_declaring_) {  // the place now holds another range
    last_range_ = {};
    last_path_ = outside;
    last_declaring_ = none_declares;
  }
}

/// Returns the place of the innermost range that declares FLOP, or none_declares.
std::size_t live_workloads::declaring_around(range_id innermost) const {
  auto declaring = none_declares;
  recent_.each_around(innermost, [&](recent_range const& range) {
    auto const at = recent_.place_of(range);
    if (declaring == none_declares && declared_.declares(at)) declaring = at;
  });
  return declaring;
}

void live_workloads::settle(timestamp_ns complete_until) {
  declared_.settle(complete_until, [this](std::uint32_t path, double flops, std::uint64_t ns) {
    sums_.paths[path].declared_flops += flops;
    sums_.paths[path].declared_ns += ns;
  });
}

std::uint32_t live_workloads::path_around(range_id innermost) {
  if (innermost == last_range_) return last_path_;
  auto const* const range = recent_.find(innermost);
  if (range == nullptr) return outside;
  last_range_ = innermost;
  last_declaring_ = declared_.any() ? declaring_around(innermost) : none_declares;
  return last_path_ = range->label;
}

bool workload_sums::is_inside(std::uint32_t path, std::uint32_t name) const noexcept {
  for (; path != outside; path = paths[path].parent)
    if (paths[path].name == name) return true;
  return false;
}

/// Layout: 32 bits of the shape or graph, 8 of the device, 2 of flags. The caller adds the path
/// above them.
live_workloads::key live_workloads::key_of(kernel_record const& kernel, bool is_graph) noexcept {
  if (raw(kernel.device) > 0xff) return 0;
  auto const what = is_graph ? raw(kernel.graph) : raw(kernel.shape);
  return key{1} << 40 | key{is_graph} << 41 | key{raw(kernel.device)} << 32 | what;
}

workload_sums::workload_cell* live_workloads::make_cell(place& at, key of, std::uint32_t path,
                                                        kernel_record const& kernel,
                                                        bool is_graph) {
  if (sums_.cells.size() == limits_.cells) return nullptr;
  workload_id const id = is_graph ? workload_id{kernel.device, {}, kernel.graph}
                                  : workload_id{kernel.device, kernel.shape, {}};
  auto known = workload_index_.find(id);
  if (known == workload_index_.end()) {
    if (sums_.workloads.size() > limits_.workloads) return nullptr;
    if (is_graph) graphs_.emplace_back();
    known = workload_index_.emplace(id, static_cast<std::uint32_t>(sums_.workloads.size())).first;
    sums_.workloads.push_back({id, {}, is_graph ? static_cast<std::uint32_t>(graphs_.size()) : 0});
    if (auto const shape = raw(id.shape); shape != 0 && shape < shape_names_.size())
      sums_.kernel_names.emplace(id.shape, text_(shape_names_[shape]));
  }
  at = {of, static_cast<std::uint32_t>(sums_.cells.size())};
  return &sums_.cells.emplace_back(workload_sums::workload_cell{path, known->second, {}});
}

/// Returns nullptr if there is no room left.
workload_sums::workload_cell* live_workloads::cell_of(std::uint32_t path,
                                                      kernel_record const& kernel, bool is_graph) {
  auto const of_workload = key_of(kernel, is_graph);
  if (of_workload == 0) return nullptr;
  auto const of = of_workload | key{path} << 42;
  auto const mask = cell_index_.size() - 1;
  auto at = static_cast<std::size_t>((of * 0x9E3779B97F4A7C15u) >> 32) & mask;
  for (; cell_index_[at].of != 0; at = (at + 1) & mask)
    if (cell_index_[at].of == of) return &sums_.cells[cell_index_[at].cell];
  return make_cell(cell_index_[at], of, path, kernel, is_graph);
}

template <class F>
void live_workloads::each_tally(kernel_record const& kernel, bool is_graph, F f) {
  auto const path = path_around(kernel.range);
  auto const tally_of = [&](std::uint32_t in) -> launch_tally& {
    auto* const cell = cell_of(in, kernel, is_graph);
    return cell != nullptr ? cell->tally : sums_.paths[in].others;
  };
  f(tally_of(path));
  std::array<std::uint32_t, max_start_end> given{};
  std::size_t count = 0;
  recent_.each_open_at(kernel.launched, [&](recent_range const& range) {
    auto const name = sums_.paths[range.label].name;
    auto const end = given.begin() + static_cast<std::ptrdiff_t>(count);
    if (range.label == outside || count == given.size() || sums_.is_inside(path, name) ||
        std::find(given.begin(), end, name) != end)
      return;
    given[count++] = name;
    f(tally_of(range.label));
  });
}

bool live_workloads::add_to_graph(workload_sums::known_workload& graph,
                                  kernel_record const& kernel) {
  auto& launches = graphs_[graph.graph - 1];
  auto* launch = launches.find(kernel.correlation);
  bool const is_new = launch == nullptr;
  if (is_new) launch = &launches.begin(kernel.correlation);
  auto const ns = nanoseconds(kernel.duration);
  launch->ns += ns;
  if (launch->is_sampled) graph.sampled.ns += ns;
  return is_new;
}

void live_workloads::add(kernel_record const& kernel, bool is_graph) {
  bool is_new_launch = true;
  if (is_graph)
    if (auto const* const cell = cell_of(path_around(kernel.range), kernel, true))
      is_new_launch = add_to_graph(sums_.workloads[cell->workload], kernel);
  auto const ns = nanoseconds(kernel.duration);
  if (path_around(kernel.range) != outside && last_declaring_ != none_declares)
    declared_.add_launch(last_declaring_, ns);
  each_tally(kernel, is_graph,
             [&](launch_tally& tally) { tally.add(sampling::none, is_new_launch, ns); });
}

void live_workloads::note_sampled(kernel_record const& kernel, bool is_graph) {
  auto const* const cell = cell_of(path_around(kernel.range), kernel, is_graph);
  if (cell == nullptr) return;
  auto& workload = sums_.workloads[cell->workload];
  if (!is_graph) return workload.sampled.add(sampling::plain, true, nanoseconds(kernel.duration));
  // Null if its kernels came before the graph was known as one workload: they count as kernels.
  auto* const launch = graphs_[workload.graph - 1].find(kernel.correlation);
  if (launch == nullptr || launch->is_sampled) return;
  launch->is_sampled = true;
  workload.sampled.add(sampling::plain, true, launch->ns);
}

void live_workloads::note_slowed(kernel_record const& kernel) {
  auto const ns = nanoseconds(kernel.duration);
  each_tally(kernel, false, [ns](launch_tally& tally) {
    // If the range of this launch has been forgotten since, this tally does not contain the launch.
    // Then nothing may be subtracted.
    if (tally.ns < ns || tally.slowed_launches >= tally.launches) return;
    tally.ns -= ns;
    tally.slowed_ns += ns;
    ++tally.slowed_launches;
  });
}

workload_times workload_sums::times(launch_metrics const& metrics) const {
  std::vector<launch_tally> all(workloads.size());
  for (auto const& cell : cells)
    if (paths[cell.path].style == range_style::push_pop) add_to(all[cell.workload], cell.tally);
  for (auto const& path : paths)
    if (path.style == range_style::push_pop) add_to(all[other_workload], path.others);
  workload_times made(metrics);
  for (std::size_t i = 0; i < workloads.size(); ++i)
    made.add(workloads[i].id, all[i], workloads[i].sampled);
  return made;
}

std::vector<range_work> workload_sums::ranges() const {
  std::map<std::uint32_t, std::map<std::uint32_t, launch_tally>> by_name;
  auto const give = [&](std::uint32_t path, std::uint32_t workload, launch_tally const& tally) {
    std::vector<std::uint32_t> given;
    if (tally.launches == 0) return;
    for (; path != outside; path = paths[path].parent) {
      auto const name = paths[path].name;
      if (std::find(given.begin(), given.end(), name) != given.end()) continue;
      given.push_back(name);
      add_to(by_name[name][workload], tally);
    }
  };
  for (auto const& cell : cells) give(cell.path, cell.workload, cell.tally);
  for (std::uint32_t i = 0; i < paths.size(); ++i) give(i, other_workload, paths[i].others);
  std::vector<range_work> rows;
  for (auto const& [name, tallies] : by_name) {
    auto& row = rows.emplace_back();
    row.key.name = static_cast<name_id>(name);
    for (std::uint32_t i = 0; i < paths.size(); ++i) {
      if (paths[i].declared_ns == 0 || !is_inside(i, name)) continue;
      row.declared_flops += paths[i].declared_flops;
      row.declared_ns += paths[i].declared_ns;
    }
    for (auto const& [workload, tally] : tallies) row.workloads.push_back({workload, tally});
  }
  return rows;
}

}  // namespace gpuprof::guest
