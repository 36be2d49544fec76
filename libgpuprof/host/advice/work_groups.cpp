// SPDX-License-Identifier: Apache-2.0
#include "host/advice/work_groups.hpp"

#include "host/advice/recorded_work.hpp"
#include "host/advice/step_patterns.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

namespace gpuprof::host::advice {
namespace {

using replay::recorded_item;
using replay::recorded_steps;

constexpr std::size_t longest_period = 64, fewest_periods = 4;
constexpr double nearly_all = 0.8;
constexpr std::size_t fewest_products = 4, fewest_tried = 4;
constexpr double longest_of_small_product_ns = 20'000;  // Python needs as long for a launch
constexpr std::uint64_t large_copy = 1 << 20;           // bytes
constexpr float little_room = 0.5f;
constexpr double share_below_diagonal = 0.5;  // of the scores, which a causal mask leaves
constexpr std::size_t fewest_tensors = 20;    // of an optimizer

bool is_in_chains(kernel_kind kind) noexcept {
  return kind == kernel_kind::elementwise || kind == kernel_kind::reduction ||
         kind == kernel_kind::moves || kind == kernel_kind::random;
}

bool is_arithmetic(kernel_kind kind) noexcept {
  return kind == kernel_kind::elementwise || kind == kernel_kind::reduction;
}

/// Goes through the items of each stream in order.
class group_finder {
 public:
  group_finder(recorded_steps const& steps, run_facts const& facts, line_of_stack const& line_of)
      : steps_(steps),
        known_(steps, facts, line_of),
        launch_distance_ns_(facts.run.launch_distance) {}

  std::vector<work_group> all() {
    std::map<std::uint32_t, std::vector<std::uint32_t>> streams;
    for (std::uint32_t i = 0; i < steps_.items.size(); ++i)
      if (!steps_.items[i].is_from_before) streams[steps_.items[i].stream].push_back(i);
    for (auto& [_, items] : streams) {
      std::stable_sort(items.begin(), items.end(), [&](auto a, auto b) {
        return steps_.items[a].start_ns < steps_.items[b].start_ns;
      });
      walk(items);
      add_reads(items);
      add_padded(items);
    }
    std::vector<work_group> found;
    for (auto& [_, group] : groups_) {
      if (auto const moved = moved_.find(&group); moved != moved_.end()) {
        group.does = most_first(moved->second);
        if (group.does.front() == "fills tensors") group.is_prepared = false;
        if (auto const grows = growth_in_steps(known_, group.all)) {
          group.first_ns = grows->first_ns;
          group.last_ns = grows->last_ns;
        }
      }
      found.push_back(finished(std::move(group)));
    }
    std::stable_sort(found.begin(), found.end(),
                     [](auto const& a, auto const& b) { return a.total_ns > b.total_ns; });
    for (std::size_t i = 0; i < found.size(); ++i) found[i].number = i;
    return found;
  }

 private:
  using row = std::span<std::uint32_t const>;
  /// Pattern, line or what moves do, names and shapes.
  using group_key = std::tuple<group_pattern, std::string, std::vector<std::uint32_t>>;

  void walk(row items) {
    std::size_t tried_until = 0;
    for (std::size_t i = 0; i < items.size();) {
      auto const of = known_.work(items[i]);
      auto const kind = of.kind;
      if (known_.is_of_mask(items[i]))
        add_instance(group_pattern::mask, known_.line_of(items[i]), items.subspan(i, 1));
      else if (of.does == "sorts")
        add_instance(group_pattern::sort, known_.line_of(items[i]), items.subspan(i, 1));
      // Before the first try a library fills its memory.
      if (i >= tried_until && (kind == kernel_kind::convolution || known_.is_fill(items[i]))) {
        auto const [end, is_tuning] = row_of_convolutions(items, i);
        tried_until = end;  // a part of a row is tuning only if the row is
        if (is_tuning) {
          add_tuning(items.subspan(i, end - i));
          i = end;
          continue;
        }
      }
      if (auto const tried = trials_at(known_, items, i); tried.end > i) {
        add_trials(items.subspan(i, tried.end - i), tried);
        i = tried.end;
        continue;
      }
      if (kind == kernel_kind::product) {
        auto const end = end_of_products(items, i);
        if (end - i >= fewest_products)
          add_products(items.subspan(i, end - i), items.subspan(end));
        else
          add_product_of_one_hot(items.first(i), items.subspan(i, 1));
        i = end;
        continue;
      }
      // The author of such a kernel knows what could be one with it.
      if (!is_in_chains(kind) || (of.is_told_by_code && kind != kernel_kind::moves)) {
        if (known_.item(items[i]).to_host && known_.item(items[i]).bytes >= large_copy)
          add_instance(group_pattern::to_host, known_.line_of(items[i]), items.subspan(i, 1));
        ++i;
        continue;
      }
      if (stands_alone(of)) {
        add_move(items[i++]);
        continue;
      }
      auto end = i + 1;
      while (end < items.size() && is_in_chains(known_.work(items[end]).kind) &&
             !stands_alone(known_.work(items[end])) &&
             known_.are_in_one_row(items[end - 1], items[end]))
        ++end;
      if (!take_attention(items, i, end)) take_row(items.subspan(i, end - i));
      i = end;
    }
  }

  /// Moves that no compiler joins with their neighbors.
  static bool stands_alone(kernel_work const& of) noexcept {
    return of.is_of_library || of.adds_by_atomics || of.is_told_by_code;
  }

  void add_move(std::uint32_t i) {
    auto const of = known_.work(i);
    add_move(i, known_.line_of(i), of.does);
  }

  void add_move(std::uint32_t i, std::string_view line, std::string_view does) {
    auto const of = known_.work(i);
    auto& group = add_instance(of.adds_by_atomics ? group_pattern::atomics : group_pattern::moves,
                               line.empty() ? does : line, row(&i, 1));
    moved_[&group][std::string(does)] += known_.ns(i);
    if (of.is_of_library) group.is_prepared = false;
  }

  /// A library that tries its convolutions runs one after the other for the same tensors, with
  /// nothing but fills between them. Returns the end of such a row, and whether it looks like that.
  std::pair<std::size_t, bool> row_of_convolutions(row items, std::size_t begin) const {
    std::set<std::uint32_t> names;
    std::size_t convolutions = 0;
    auto end = begin;
    while (
        end < items.size() &&
        (known_.work(items[end]).kind == kernel_kind::convolution || known_.is_fill(items[end])) &&
        known_.step_of(items[begin]) == known_.step_of(items[end])) {
      if (!known_.is_fill(items[end])) {
        names.insert(known_.item(items[end]).name);
        ++convolutions;
      }
      ++end;
    }
    return {end, names.size() >= fewest_tried && convolutions > names.size()};
  }

  /// The last one does the work, with the fastest kernel. The first tries come behind what the
  /// library prepares for all of them, which goes with them.
  void add_tuning(row items) {
    std::optional<std::uint32_t> last;
    auto fastest_ns = std::numeric_limits<double>::infinity();
    for (auto const i : items) {
      if (known_.is_fill(i)) continue;
      last = i;
      fastest_ns = std::min(fastest_ns, known_.ns(i));
    }
    auto& group = add_instance(group_pattern::tuning, "", items, last);
    group.does = {"cuDNN"};
    group.least_ns += fastest_ns;
    group.sure_ns += fastest_ns;
  }

  void add_trials(row items, kernel_trials const& tried) {
    auto& group = add_instance(group_pattern::tuning, tried.library, items);
    group.does = {std::string(tried.library)};
    group.least_ns += tried.fastest_ns;
    group.sure_ns += tried.fastest_ns;
  }

  std::size_t end_of_products(row items, std::size_t begin) const {
    auto const& first = known_.item(items[begin]);
    auto end = begin + 1;
    while (end < items.size() && known_.item(items[end]).name == first.name &&
           known_.item(items[end]).shape == first.shape &&
           known_.are_in_one_row(items[end - 1], items[end]))
      ++end;
    return end;
  }

  /// One product for all also writes in place what is concatenated behind them.
  void add_products(row items, row behind) {
    double sum = 0;
    for (auto const i : items) sum += known_.ns(i);
    auto const mean = sum / static_cast<double>(items.size());
    if (mean > longest_of_small_product_ns) return;
    auto const is_short = mean < launch_distance_ns_;
    auto const room = known_.item(items[0]).room > 0 ? known_.item(items[0]).room : 1.0f;
    if (room > little_room && !is_short) return;
    auto& group = add_instance(group_pattern::products, "", items);
    auto const longest = known_.ns(known_.longest_of(items));
    auto const filled = sum * static_cast<double>(room);
    group.least_ns += std::min(filled, known_.computing_ns(items));
    group.sure_ns += std::max(longest, std::min(sum, 2 * filled));
    auto before = items.back();
    for (auto const i : behind) {
      if (known_.work(i).does != "concatenates tensors" || !known_.are_in_one_row(before, i)) break;
      group.all[i] = true;
      group.total_ns += known_.ns(i);
      group.sure_ns += known_.ns(i);
      before = i;
    }
  }

  /// A product of rows that were filled with zeros, in which one value each was set, and mostly
  /// converted then: a lookup in a table. It goes with what makes these rows.
  void add_product_of_one_hot(row before, row item) {
    auto is_set = false;
    auto next = item.front();
    while (!before.empty() && known_.work(before.back()).kind == kernel_kind::moves &&
           known_.are_in_one_row(before.back(), next)) {
      next = before.back();
      before = before.first(before.size() - 1);
      if (is_set && known_.is_fill(next)) {
        add_move(item.front(), known_.line_of(next), "looks rows up by one-hot products");
        return;
      }
      is_set |= known_.name(next).find("scatter_fill") != std::string::npos;
    }
  }

  /// The products before and behind a row, without fills of their workspaces between.
  std::optional<std::pair<std::uint32_t, std::uint32_t>> products_around(row items,
                                                                         std::size_t begin,
                                                                         std::size_t end) const {
    while (begin > 0 && known_.is_fill(items[begin - 1])) --begin;
    while (end < items.size() && known_.is_fill(items[end])) ++end;
    if (begin == 0 || end == items.size()) return std::nullopt;
    auto const before = items[begin - 1], behind = items[end];
    if (!known_.is_product(before) || !known_.is_product(behind) ||
        !known_.are_in_one_row(before, behind))
      return std::nullopt;
    return std::pair(before, behind);
  }

  /// True if the row between two products is attention in pieces.
  bool take_attention(row items, std::size_t begin, std::size_t end) {
    auto const around = products_around(items, begin, end);
    if (!around) return false;
    auto has_softmax = false, has_mask = false;
    for (auto const i : items.subspan(begin, end - begin)) {
      auto const& name = known_.name(i);
      if (name.find("_loss") != name.npos || name.find("LogSoftM") != name.npos) return false;
      has_mask |= name.find("masked_fill") != name.npos;
      has_softmax |= name.find("oftmax") != name.npos || name.find("oftMax") != name.npos;
    }
    if (!has_softmax) return false;
    auto& group = add_instance(group_pattern::attention, "", items.subspan(begin, end - begin));
    add_lengths_of_chain(group, items.subspan(begin, end - begin));
    auto const share = has_mask ? share_below_diagonal : 1;
    if (group.beside.empty()) group.beside.resize(steps_.items.size());
    auto const [first, second] = *around;
    if (group.beside[first] || group.all[first] || group.all[second]) return true;
    group.beside[first] = true;
    group.beside_ns += known_.ns(first);
    group.beside_least_ns += share * known_.computing_ns(row(&first, 1));
    // One kernel does all: the second product has no launch of its own.
    group.all[second] = true;
    group.total_ns += known_.ns(second);
    group.sure_ns += known_.ns(second);
    group.least_ns += share * known_.computing_ns(row(&second, 1));
    return true;
  }

  /// A row of launches without a product between them, in one step.
  void take_row(row items) {
    double moves_ns = 0, all_ns = 0;
    std::size_t arithmetic = 0;
    for (auto const i : items) {
      auto const of = known_.work(i);
      all_ns += known_.ns(i);
      if (of.kind == kernel_kind::moves) moves_ns += known_.ns(i);
      if (of.is_fp64) add_doubles(i);
      arithmetic += is_arithmetic(of.kind);
    }
    if (arithmetic == 0 || items.size() < 2 || moves_ns > 0.5 * all_ns) {
      std::vector<std::uint32_t> rest;
      for (auto const i : items)
        if (known_.work(i).kind == kernel_kind::moves)
          add_move(i);
        else
          rest.push_back(i);
      if (rest.size() >= 2 && arithmetic > 0) add_chains(rest);
      add_floats(items);
      return;
    }
    auto const period = period_of(items);
    if (items.size() >= fewest_tensors * period && ends_as_optimizers_do(items.first(period))) {
      add_optimizer(items, period);
    } else {
      add_chains(items);
      add_floats(items);
    }
  }

  /// What repeats in a row works on one tensor after the other, or in one layer after the other, so
  /// that only what lies between two repetitions could become one kernel.
  void add_chains(row items) {
    auto const period = period_of(items);
    for (std::size_t i = 0; i < items.size(); i += period)
      add_chain(items.subspan(i, std::min(period, items.size() - i)));
  }

  void add_reads(row items) {
    for (auto const& all : rows_of_reads(known_, items)) {
      auto& group = add_instance(group_pattern::reads, "", all);
      for (auto const i : all)
        if (!is_small_read(known_.item(i))) group.least_ns += known_.ns(i);
    }
  }

  void add_padded(row items) {
    for (auto const& one : padded_tensors(known_, items)) {
      auto& group = add_instance(group_pattern::padded, "", one.behind);
      group.bytes += one.filled_bytes;
      group.padded_bytes += one.padded_bytes;
      group.stacks.clear();  // the line is that of the copies
      for (auto const copy : one.copies)
        if (auto const& of = known_.item(copy); of.stack != 0)
          group.stacks[of.stack] += known_.ns(copy);
    }
  }

  bool ends_as_optimizers_do(row items) const {
    return std::any_of(items.begin(), items.end(), [&](auto i) {
      auto const& name = known_.name(i);
      return name.find("addcdiv") != name.npos || name.find("lerp") != name.npos;
    });
  }

  /// Least: each tensor goes in once and comes out once, in one launch for all.
  void add_optimizer(row items, std::size_t period) {
    auto& group = add_instance(group_pattern::optimizer, "", items);
    for (std::size_t i = 0; i < items.size(); i += period) {
      auto const part = items.subspan(i, std::min(period, items.size() - i));
      double sum = 0;
      for (auto const one : part) sum += known_.ns(one);
      group.least_ns += std::min(sum, known_.ns(known_.longest_of(part)) / 2);
      group.sure_ns += std::min(sum, 2 * known_.ns(known_.longest_of(part)));
    }
  }

  std::size_t period_of(row items) const {
    for (std::size_t period = 1;
         period <= longest_period && fewest_periods * period <= items.size(); ++period) {
      std::size_t same = 0;
      for (std::size_t i = period; i < items.size(); ++i)
        same += known_.item(items[i]).name == known_.item(items[i - period]).name;
      if (static_cast<double>(same) >= nearly_all * static_cast<double>(items.size() - period))
        return period;
    }
    return items.size();
  }

  void add_chain(row items) {
    auto& group = add_instance(group_pattern::chain, "", items);
    if (items.size() >= 2) return add_lengths_of_chain(group, items);
    group.least_ns += known_.ns(items[0]);
    group.sure_ns += known_.ns(items[0]);
  }

  /// Least: what goes in first and comes out last. Sure: the bytes that a launch writes and the
  /// next reads need not travel, but not across a reduction, which has to end first.
  void add_lengths_of_chain(work_group& group, row items) {
    auto const first = known_.traffic_of(items.front()), last = known_.traffic_of(items.back());
    double sure = 0, sum = 0;
    std::optional<traffic> before;
    for (auto const i : items) {
      auto const of = known_.traffic_of(i);
      sure += of.read + of.written;
      sum += known_.ns(i);
      if (before) sure -= 2 * std::min(before->written, of.read);
      before = of;
      if (known_.work(i).kind == kernel_kind::reduction) before.reset();
    }
    auto const is_attention = group.pattern == group_pattern::attention;
    auto const has_bytes = known_.share_of_dram(items.front()).has_value();
    auto least = is_attention ? 0 : first.read + last.written;
    // One pass over the tensors takes no longer than the quickest that goes over all of them.
    if (!has_bytes && items.size() > 2)
      for (auto const i : items)
        if (known_.ns(i) > sum / static_cast<double>(2 * items.size()))
          least = std::min(least, known_.ns(i));
    group.has_bytes |= has_bytes;
    group.least_ns += std::min(sum, least);
    group.sure_ns += std::min(sum, std::max(least, sure / nearly_all));
  }

  void add_doubles(std::uint32_t i) {
    auto& group = add_instance(group_pattern::doubles, "", row(&i, 1));
    group.least_ns += known_.ns(i) / 2;
    group.sure_ns += known_.ns(i) / 2;
  }

  void add_floats(row items) {
    for (auto const i : items) {
      if (!known_.has_products_of_16_bits() || !known_.work(i).is_fp32) continue;
      auto& group = add_instance(group_pattern::floats, "", row(&i, 1));
      group.least_ns += known_.ns(i) / 2;
      group.sure_ns += known_.ns(i);
    }
  }

  /// The launch that stays and takes the time of the work that remains is the longest, unless one
  /// is given.
  work_group& add_instance(group_pattern pattern, std::string_view place, row items,
                           std::optional<std::uint32_t> stays = {}) {
    std::vector<std::uint32_t> names;
    if (pattern == group_pattern::chain)
      for (auto const i : items) names.push_back(known_.item(i).name);
    if (pattern == group_pattern::products)
      names = {known_.item(items[0]).name, known_.item(items[0]).shape};
    auto& group = groups_[group_key{pattern, std::string(place), std::move(names)}];
    if (group.all.empty()) {
      group.pattern = pattern;
      group.all.resize(steps_.items.size());
      group.kept.resize(steps_.items.size());
    }
    ++group.instances;
    group.launches += items.size();
    for (auto const i : items) {
      group.all[i] = true;
      group.total_ns += known_.ns(i);
      group.bytes += static_cast<double>(known_.item(i).bytes);
      auto const& of = known_.item(i);
      if (of.stack != 0) group.stacks[of.stack] += known_.ns(i);
    }
    auto const kept = stays.value_or(known_.longest_of(items));
    group.kept[kept] = true;
    group.kept_ns += known_.ns(kept);
    return group;
  }

  static std::vector<std::string> most_first(std::map<std::string, double> const& times) {
    std::vector<std::pair<double, std::string>> sorted;
    for (auto const& [does, time] : times) sorted.emplace_back(-time, does);
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::string> names;
    for (auto& [_, does] : sorted) names.push_back(std::move(does));
    return names;
  }

  work_group finished(work_group group) {
    std::map<std::uint32_t, double> by_name;
    for (std::uint32_t i = 0; i < group.all.size(); ++i)
      if (group.all[i]) by_name[known_.item(i).name] += known_.ns(i);
    std::vector<std::pair<double, std::uint32_t>> sorted;
    for (auto const& [name, time] : by_name) sorted.emplace_back(-time, name);
    std::sort(sorted.begin(), sorted.end());
    auto const& names = steps_.base_names.empty() ? steps_.work_names : steps_.base_names;
    for (auto const& [_, name] : sorted)
      if (std::find(group.kernels.begin(), group.kernels.end(), names[name]) == group.kernels.end())
        group.kernels.push_back(names[name]);
    return group;
  }

  recorded_steps const& steps_;
  recorded_work known_;
  std::map<group_key, work_group> groups_;
  std::map<work_group const*, std::map<std::string, double>> moved_;  // nanoseconds by what it does
  double launch_distance_ns_ = 0;
};

}  // namespace

std::vector<work_group> find_groups(recorded_steps const& steps, run_facts const& facts,
                                    line_of_stack const& line_of) {
  return group_finder(steps, facts, line_of).all();
}

}  // namespace gpuprof::host::advice
