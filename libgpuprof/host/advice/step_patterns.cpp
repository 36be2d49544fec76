// SPDX-License-Identifier: Apache-2.0
#include "host/advice/step_patterns.hpp"

#include <algorithm>
#include <cstddef>

namespace gpuprof::host::advice {
namespace {

constexpr std::uint64_t small_read = 64;  // bytes
constexpr std::size_t fewest_reads = 8;
constexpr std::size_t fewest_sequences = 8;
constexpr double most_filled = 0.6;  // by sequences that are padded
constexpr double fastest_fill = 5;   // times the rate of a copy, which reads as well and is shorter

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

}  // namespace gpuprof::host::advice
