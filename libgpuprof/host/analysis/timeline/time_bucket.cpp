// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/timeline/time_bucket.hpp"

#include <algorithm>

namespace gpuprof::host {
namespace {

struct bucket_words {
  std::string_view name, meaning;
};

constexpr std::array<bucket_words, time_bucket_count> words_of_buckets = {{
    {"compute", "kernels ran"},
    {"compute and communication", "kernels ran beside communication"},
    {"communication alone", "communication ran and no other kernel"},
    {"copy or fill alone", "copies or fills ran and no kernel"},
    {"idle: between queued work",
     "the GPU's own pause between two pieces of work that were both queued"},
    {"idle: dependency",
     "the next work was queued and waited for an event, another stream or another device"},
    {"idle: synchronization", "the program waited for the GPU, and issued more only after that"},
    {"idle: allocation", "the program was inside a call that allocates or frees memory"},
    {"idle: module load", "the program was inside a call that loads kernels"},
    {"idle: graph build", "the program was inside a call that makes a CUDA graph ready"},
    {"idle: launch-bound", "the CPU cannot launch fast enough"},
    {"idle: data loading", "the program was in a range that loads data"},
    {"idle: between steps", "the program was between two steps"},
    {"idle: CPU work", "the program did something else than CUDA calls"},
    {"idle: host", "the program had not launched anything; its calls were not recorded"},
    {"idle: start-up", "before the first work on this GPU"},
    {"idle: after the last work", "the program gave this GPU nothing more to do"},
    {"this profiler", "counters were set up or read"},
}};

}  // namespace

std::string_view name_of(time_bucket bucket) noexcept {
  return words_of_buckets[static_cast<std::size_t>(bucket)].name;
}

std::string_view meaning_of(time_bucket bucket) noexcept {
  return words_of_buckets[static_cast<std::size_t>(bucket)].meaning;
}

time_ledger::time_ledger(range_tree const& ranges, std::span<std::uint32_t const> step_of_range)
    : ranges_(ranges), step_of_range_(step_of_range), key_of_range_(ranges.size()) {
  std::map<range_key, std::uint32_t> known;
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    auto const [at, is_new] =
        known.try_emplace(key_of(ranges[i]), static_cast<std::uint32_t>(lines_.size()));
    if (is_new) lines_.push_back({.range = at->first, .inclusive = {}, .exclusive = {}});
    key_of_range_[i] = at->second;
  }
  lines_.push_back({.range = {}, .is_outside = true, .inclusive = {}, .exclusive = {}});
  std::uint32_t steps = 0;
  for (auto const step : step_of_range)
    if (step != no_step) steps = std::max(steps, step + 1);
  by_step_.resize(steps);
}

void time_ledger::add(device_id device, time_bucket bucket, double ns, std::uint32_t range) {
  by_device_[device][bucket] += ns;
  add_to_ranges(bucket, ns, range);
  if (range < step_of_range_.size() && step_of_range_[range] != no_step)
    by_step_[step_of_range_[range]][bucket] += ns;
}

void time_ledger::add_to_ranges(time_bucket bucket, double ns, std::uint32_t range) {
  auto& innermost = range < key_of_range_.size() ? lines_[key_of_range_[range]] : lines_.back();
  innermost.exclusive[bucket] += ns;
  innermost.inclusive[bucket] += ns;
  if (innermost.is_outside) return;
  seen_.assign(1, key_of_range_[range]);  // nested ranges of one name count once
  for (auto at = ranges_[range].around(); at != no_range; at = ranges_[at].around()) {
    auto const key = key_of_range_[at];
    if (std::find(seen_.begin(), seen_.end(), key) != seen_.end()) continue;
    seen_.push_back(key);
    lines_[key].inclusive[bucket] += ns;
  }
}

std::vector<time_ledger::range_line> time_ledger::by_range() const {
  std::vector<range_line> lines;
  for (auto const& line : lines_)
    if (line.inclusive.total() > 0) lines.push_back(line);
  std::stable_sort(lines.begin(), lines.end(), [](auto const& a, auto const& b) {
    return a.inclusive.total() > b.inclusive.total();
  });
  return lines;
}

bucket_times time_ledger::total() const noexcept {
  bucket_times sum;
  for (auto const& [_, times] : by_device_) sum += times;
  return sum;
}

}  // namespace gpuprof::host
