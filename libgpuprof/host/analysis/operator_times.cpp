// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/operator_times.hpp"

#include "model/torch_ranges.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace gpuprof::host {

operator_times::operator_times(range_tree const& tree, name_id domain)
    : tree_(tree), instances_(tree.size()) {
  for (std::uint32_t i = 0; i < tree.size(); ++i) {
    auto& one = instances_[i];
    one.is_operator = raw(domain) != 0 && tree[i].domain == domain;
    has_operators_ = has_operators_ || one.is_operator;
    if (auto const parent = tree[i].parent; parent != no_range)
      one.around = instances_[parent].is_operator ? parent : instances_[parent].around;
  }
}

void operator_times::add(range_begin const& begin) {
  auto const index = tree_.index_of(begin.range);
  if (index == no_range || !instances_[index].is_operator) return;
  auto& one = instances_[index];
  one.is_node = begin.category == static_cast<std::uint32_t>(torch_category::node);
  if (begin.payload == payload_kind::unsigned64) one.number = begin.payload_bits;
}

void operator_times::add(range_id innermost, std::uint64_t ns, stack_id stack) {
  all_gpu_ns_ += ns;
  auto index = tree_.index_of(innermost);
  if (index != no_range && !instances_[index].is_operator) index = instances_[index].around;
  if (index == no_range) {
    outside_gpu_ns_ += ns;
    return;
  }
  auto& one = instances_[index];
  one.gpu_ns += ns;
  ++one.launches;
  if (raw(one.stack) == 0) one.stack = stack;
}

/// Adds what is inside of each instance, and takes the stack of what is inside where it launched
/// nothing itself.
void operator_times::sum_up() {
  sums_ = instances_;
  for (auto i = sums_.size(); i-- > 0;) {
    auto const& one = sums_[i];
    if (!one.is_operator || one.around == no_range) continue;
    auto& around = sums_[one.around];
    around.gpu_ns += one.gpu_ns;
    around.launches += one.launches;
    // Operators come from the last to the first, so the stack of the first one inside stays.
    auto const launched_itself = raw(instances_[one.around].stack) != 0;
    if (!launched_itself && raw(one.stack) != 0) around.stack = one.stack;
  }
}

/// For each node the operator that made it; no_range: not known. A number is that of a thread, so
/// if operators of several threads have it, they are not told apart.
void operator_times::find_makers() {
  auto const& all = sums_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> numbered;  // in order of begin, too
  for (std::uint32_t i = 0; i < all.size(); ++i)
    if (all[i].is_operator && !all[i].is_node && all[i].number != no_number)
      numbered.emplace_back(all[i].number, i);
  std::ranges::sort(numbered);
  auto& makers = makers_;
  makers.assign(all.size(), no_range);
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (!all[i].is_node || all[i].number == no_number) continue;
    auto const first =
        std::ranges::lower_bound(numbered, std::pair(all[i].number, std::uint32_t{0}));
    for (auto at = first; at != numbered.end() && at->first == all[i].number; ++at) {
      auto const& maker = tree_[at->second];
      if (maker.begin >= tree_[i].begin) break;
      // Operators around a node have not made it. The outermost maker comes first.
      if (maker.end > tree_[i].begin) continue;
      if (makers[i] != no_range && tree_[makers[i]].thread != maker.thread) {
        makers[i] = no_range;
        break;
      }
      if (makers[i] == no_range) makers[i] = at->second;
    }
  }
}

void operator_times::finish() {
  sum_up();
  find_makers();
}

stack_id operator_times::forward_stack(range_id innermost) const noexcept {
  auto index = tree_.index_of(innermost);
  if (index != no_range && !instances_[index].is_operator) index = instances_[index].around;
  for (; index != no_range; index = instances_[index].around)
    if (instances_[index].is_node)
      return makers_[index] != no_range ? sums_[makers_[index]].stack : stack_id{};
  return {};
}

std::vector<operator_row> operator_times::rows(
    place_of_stack const& place_of, bool by_place,
    std::function<bool(std::uint32_t)> const& counts) const {
  auto const& all = sums_;
  std::vector<std::uint32_t> places(all.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    auto const caller = all[i].is_node ? makers_[i] : i;
    if (all[i].is_operator)
      places[i] = place_of(caller != no_range ? all[caller].stack : stack_id{});
  }
  using key = std::tuple<name_id, bool, std::uint32_t>;
  auto const key_of = [&](std::uint32_t i) {
    return key{tree_[i].name, all[i].is_node, by_place ? places[i] : 0};
  };
  using weight = std::pair<std::uint64_t, std::uint64_t>;  // GPU time, instances
  struct sum {
    operator_row row;
    std::map<std::uint32_t, weight> weights;  // by place
  };
  std::map<key, sum> sums;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    auto const& one = all[i];
    if (!one.is_operator || (counts && !counts(i))) continue;
    auto const of = key_of(i);
    auto const cpu_ns = static_cast<double>(tree_[i].duration().value);
    auto& [row, weights] = sums[of];
    row.name = tree_[i].name;
    row.is_node = one.is_node;
    ++row.instances;
    row.own_cpu_ns += cpu_ns;
    row.own_gpu_ns += instances_[i].gpu_ns;
    auto& [gpu_ns, instances] = weights[places[i]];
    gpu_ns += one.gpu_ns;
    ++instances;
    auto is_inside_of_same = false;
    for (auto at = one.around; at != no_range && !is_inside_of_same; at = all[at].around)
      is_inside_of_same = key_of(at) == of;
    if (!is_inside_of_same) {
      row.cpu_ns += cpu_ns;
      row.gpu_ns += one.gpu_ns;
      row.launches += one.launches;
    }
    if (one.around != no_range && (!counts || counts(one.around)))
      sums[key_of(one.around)].row.own_cpu_ns -= cpu_ns;
  }
  std::vector<operator_row> rows;
  for (auto& [_, sum] : sums) {
    sum.row.place = std::ranges::max_element(sum.weights, {}, [](auto const& one) {
                      return one.second;
                    })->first;
    rows.push_back(sum.row);
  }
  return rows;
}

}  // namespace gpuprof::host
