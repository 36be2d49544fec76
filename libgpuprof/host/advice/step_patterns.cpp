// SPDX-License-Identifier: Apache-2.0
#include "host/advice/step_patterns.hpp"

#include "model/kernel_name.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace gpuprof::host::advice {
namespace {

constexpr std::uint64_t small_read = 64;  // bytes
constexpr std::size_t fewest_reads = 8;
constexpr std::size_t fewest_sequences = 8;
constexpr double most_filled = 0.6;              // by sequences that are padded
constexpr double shortest_clearing_ns = 20'000;  // of a cache
constexpr std::size_t fewest_clearings = 10, most_between_clearings = 4;
constexpr std::size_t most_between_trials = 8;
constexpr double fastest_fill = 5;  // times the rate of a copy, which reads as well and is shorter

}  // namespace

bool is_small_read(replay::recorded_item const& item) noexcept {
  return item.to_host && item.bytes <= small_read;
}

std::vector<items_in_order> rows_of_reads(recorded_work const& known, items_in_order items) {
  std::vector<items_in_order> found;
  std::size_t begin = 0, reads = 0, last = 0;
  auto const finish = [&] {
    if (reads >= fewest_reads) {
      for (auto used = reads; used > 0 && last + 1 < items.size(); --used, ++last)
        if (known.step_of(items[last + 1]) != known.step_of(items[begin]) ||
            (used < reads && known.item(items[last + 1]).name != known.item(items[last]).name))
          break;
      found.push_back(items.subspan(begin, last + 1 - begin));
    }
    reads = 0;
  };
  for (std::size_t i = 0; i < items.size(); ++i) {
    auto const kind = known.work(items[i]).kind;
    if (reads > 0 && known.step_of(items[last]) != known.step_of(items[i])) finish();
    if (is_small_read(known.item(items[i]))) {
      if (reads++ == 0) begin = i;
      last = i;
    } else if (kind != kernel_kind::reduction && kind != kernel_kind::moves) {
      finish();
    }
  }
  finish();
  return found;
}

std::vector<padded_tensor> padded_tensors(recorded_work const& known, items_in_order items) {
  std::vector<padded_tensor> found;
  auto const is_copy = [&](std::size_t i) {
    return i < items.size() && known.item(items[i]).kind == replay::work_kind::copy &&
           known.work(items[i]).kind == kernel_kind::moves;
  };
  for (std::size_t i = 1; i < items.size(); ++i) {
    if (!is_copy(i) || !known.is_fill(items[i - 1])) continue;
    auto end = i;
    double sum = 0, longest = 0, longest_ns = 0;
    for (; is_copy(end) && known.are_in_one_row(items[i], items[end]); ++end) {
      auto const bytes = static_cast<double>(known.item(items[end]).bytes);
      sum += bytes;
      longest = std::max(longest, bytes);
      longest_ns = std::max(longest_ns, known.ns(items[end]));
    }
    auto const copies = static_cast<double>(end - i);
    if (end - i >= fewest_sequences && sum < most_filled * longest * copies &&
        fastest_fill * known.ns(items[i - 1]) > copies * longest_ns) {
      auto last = end;
      while (last < items.size() && known.step_of(items[last]) == known.step_of(items[i])) ++last;
      if (last > end)
        found.push_back(
            {items.subspan(i, end - i), items.subspan(end, last - end), sum, longest * copies});
      end = last;
    }
    i = end;
  }
  return found;
}

std::optional<growth_in_step> growth_in_steps(recorded_work const& known,
                                              std::vector<bool> const& items) {
  constexpr std::size_t fewest = 8, parts = 4;
  constexpr double least_factor = 2;
  std::map<std::size_t, std::vector<std::uint32_t>> steps;
  for (std::uint32_t i = 0; i < items.size(); ++i)
    if (items[i]) steps[known.step_of(i)].push_back(i);
  growth_in_step mean;
  std::size_t long_steps = 0;
  for (auto& [_, of] : steps) {
    if (of.size() < fewest) continue;
    std::sort(of.begin(), of.end(), [&](auto a, auto b) {
      return known.item(a).launched_ns < known.item(b).launched_ns;
    });
    auto const part = of.size() / parts;
    double first = 0, last = 0;
    for (std::size_t i = 0; i < part; ++i) {
      first += known.ns(of[i]);
      last += known.ns(of[of.size() - 1 - i]);
    }
    mean.first_ns += first / static_cast<double>(part);
    mean.last_ns += last / static_cast<double>(part);
    ++long_steps;
  }
  if (2 * long_steps <= steps.size() || mean.last_ns < least_factor * mean.first_ns)
    return std::nullopt;
  mean.first_ns /= static_cast<double>(long_steps);
  mean.last_ns /= static_cast<double>(long_steps);
  return mean;
}

std::vector<std::string> growing_kernels(replay::recorded_steps const& steps) {
  constexpr double most = 0.8;
  std::vector<std::int64_t> begins;
  for (auto const& range : steps.ranges)
    if (range.is_step) begins.push_back(range.begin_ns);
  if (begins.size() < 2) return {};
  std::sort(begins.begin(), begins.end());
  auto const middle = begins[begins.size() / 2];
  auto const& names = steps.base_names.empty() ? steps.work_names : steps.base_names;
  std::map<std::string, double> longer;  // mean of a step
  auto const early = static_cast<double>(begins.size() / 2);
  auto const late = static_cast<double>(begins.size()) - early;
  for (auto const& item : steps.items) {
    if (item.is_from_before || item.kind != replay::work_kind::kernel ||
        is_named_as_collective(steps.work_names[item.name]))
      continue;
    auto const ns = static_cast<double>(item.length_ns());
    longer[names[item.name]] += item.launched_ns < middle ? -ns / early : ns / late;
  }
  std::vector<std::pair<double, std::string>> sorted;
  double all = 0, net = 0;
  for (auto const& [name, ns] : longer) {
    net += ns;
    if (ns <= 0) continue;
    sorted.emplace_back(-ns, name);
    all += ns;
  }
  if (net < all / 2) return {};  // some grow, others shrink: noise
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::string> found;
  double sum = 0;
  for (auto const& [ns, name] : sorted) {
    if (sum >= most * all) break;
    sum -= ns;
    found.push_back(name);
  }
  return found;
}

kernel_trials trials_at(recorded_work const& known, items_in_order items, std::size_t begin) {
  auto const is_in_step = [&](std::size_t i) {
    return i < items.size() && known.step_of(items[i]) == known.step_of(items[begin]);
  };
  auto const clears = [&](std::size_t i) {
    return known.is_fill(items[i]) && known.ns(items[i]) >= shortest_clearing_ns;
  };
  kernel_trials found{begin, {}, 0};
  if (known.work(items[begin]).kind == kernel_kind::tuning) {
    for (auto i = begin; is_in_step(i) && i < found.end + most_between_trials &&
                         known.item(items[i]).kind != replay::work_kind::copy;
         ++i)
      if (known.work(items[i]).kind == kernel_kind::tuning) found.end = i + 1;
    found.library = known.name(items[begin]).starts_with("triton_") ? "torch.compile" : "XLA";
    return found;
  }
  // Programs clear buffers, too; kernels of PyTorch and moves are never tuned.
  auto const can_be_tuned = [&](std::uint32_t i) {
    return known.item(i).kind == replay::work_kind::kernel &&
           known.work(i).kind != kernel_kind::moves &&
           known.name(i).find("at::native") == std::string::npos;
  };
  if (!clears(begin) || !is_in_step(begin + 1) || !can_be_tuned(items[begin + 1])) return found;
  std::size_t clearings = 0, launches = 0;
  auto const tried = [&](std::size_t i) {
    return known.item(items[begin + 1]).name == known.item(items[i]).name;
  };
  auto end = begin;
  for (; is_in_step(end); ++end) {
    if (clears(end)) {
      if (end > begin && launches == 0) break;
      ++clearings;
      launches = 0;
    } else if (known.item(items[end]).kind != replay::work_kind::kernel || !tried(end) ||
               ++launches > most_between_clearings) {
      break;
    } else {
      found.fastest_ns = found.fastest_ns == 0 ? known.ns(items[end])
                                               : std::min(found.fastest_ns, known.ns(items[end]));
    }
  }
  if (clearings < fewest_clearings) return {begin, {}, 0};
  found.end = end;
  found.library = "Triton";
  return found;
}

}  // namespace gpuprof::host::advice
