// SPDX-License-Identifier: Apache-2.0
#include "host/page/duration_spread.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

namespace gpuprof::host::page {
namespace {

// Bins of 1 ns up to 256 ns above the shortest, then 128 bins from each distance to twice that. No
// bin is wider than a hundredth of its distance from the shortest.
constexpr std::size_t of_octave = 128;

std::size_t bin_of(std::uint64_t above) noexcept {
  auto const octave = std::max<int>(static_cast<int>(std::bit_width(above)), 8) - 8;
  return of_octave * static_cast<std::size_t>(octave) + static_cast<std::size_t>(above >> octave);
}

std::uint64_t begin_of(std::size_t bin) noexcept {
  auto const octave = bin < of_octave ? 0 : bin / of_octave - 1;
  return static_cast<std::uint64_t>(bin - of_octave * octave) << octave;
}

/// Bins from `first` up to, but without, `last`.
struct bin_span {
  std::size_t first = 0, last = 0;
};

bin_span without_ends(std::vector<std::uint32_t> const& counts, double share) {
  auto const all = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  auto const most = static_cast<std::uint64_t>(share * static_cast<double>(all));
  bin_span kept{0, counts.size()};
  for (std::uint64_t cut = 0; kept.first < kept.last; ++kept.first) {
    cut += counts[kept.first];
    if (cut > most) break;
  }
  for (std::uint64_t cut = 0; kept.last > kept.first + 1; --kept.last) {
    cut += counts[kept.last - 1];
    if (cut > most) break;
  }
  return kept;
}

/// Returns the preferred end of the bin that begins at `from`.
std::uint64_t end_of_bin(std::uint64_t from, std::uint64_t width, double factor) {
  auto const grown = static_cast<std::uint64_t>(static_cast<double>(from) * factor);
  return std::max({from + width, grown, from + duration_histogram::narrowest_ns});
}

}  // namespace

duration_histogram::duration_histogram(std::uint64_t shortest_ns, std::uint64_t longest_ns)
    : from_(std::max<std::uint64_t>(1, shortest_ns)),
      to_(std::max(from_, longest_ns) + 1),
      counts_(bin_of(to_ - 1 - from_) + 1) {}

void duration_histogram::add(std::uint64_t duration_ns) {
  if (last_bin_) ++counts_[*last_bin_];
  last_bin_ = bin_of(std::clamp(duration_ns, from_, to_ - 1) - from_);
  __builtin_prefetch(&counts_[*last_bin_], 1);
}

std::uint64_t duration_histogram::edge(std::size_t bin) const noexcept {
  return bin < counts_.size() ? from_ + begin_of(bin) : to_;
}

shown_durations duration_histogram::shown() const {
  auto counts = counts_;
  if (last_bin_) ++counts[*last_bin_];
  bin_span of{0, counts.size()};
  auto const most = without_ends(counts, far_share);
  if (to_ - from_ > far_factor * (edge(most.last) - edge(most.first))) of = most;
  shown_durations made;
  auto const begin = counts.begin();
  auto const at = [begin](std::size_t bin) { return begin + static_cast<std::ptrdiff_t>(bin); };
  made.shorter = std::accumulate(begin, at(of.first), std::uint64_t{0});
  made.longer = std::accumulate(at(of.last), counts.end(), std::uint64_t{0});
  auto const from = edge(of.first), to = edge(of.last);
  made.logarithmic = to > linear_up_to * from;
  auto const width = made.logarithmic ? 0 : (to - from + max_shown - 1) / max_shown;
  auto const factor =
      made.logarithmic
          ? std::pow(static_cast<double>(to) / static_cast<double>(from), 1.0 / max_shown)
          : 1.0;
  made.edges.push_back(from);
  auto end = end_of_bin(from, width, factor);
  for (auto bin = of.first; bin < of.last; ++bin) {
    if (made.counts.size() < made.edges.size()) made.counts.push_back(0);
    made.counts.back() += counts[bin];
    if (edge(bin + 1) < end && bin + 1 < of.last) continue;
    made.edges.push_back(edge(bin + 1));
    end = end_of_bin(edge(bin + 1), width, factor);
  }
  if (made.counts.size() == 1)  // all durations are equal
    made.edges.back() = std::max(made.edges.back(), from + narrowest_ns);
  return made;
}

namespace {

void join(duration_point& last, duration_point const& next) {
  last.launches += next.launches;
  last.total_ns += next.total_ns;
  last.shortest_ns = std::min(last.shortest_ns, next.shortest_ns);
  last.longest_ns = std::max(last.longest_ns, next.longest_ns);
}

}  // namespace

// Stretches count from the first launch. If a damaged capture goes back in time, the points are
// joined.
bool duration_series::joins(std::uint64_t start_ns) const noexcept {
  if (points_.empty()) return false;
  if (start_ns <= points_.back().start_ns) return stretch_ > 0;
  return start_ns - points_.front().start_ns - last_stretch_ < stretch_;
}

void duration_series::push(duration_point const& point) {
  points_.push_back(point);
  if (stretch_ == 0) return;
  auto const after_first = point.start_ns - points_.front().start_ns;
  last_stretch_ = after_first - after_first % stretch_;
}

void duration_series::widen() {
  auto const span = points_.back().start_ns - points_.front().start_ns;
  stretch_ = std::max<std::uint64_t>({1, 2 * stretch_, 2 * span / limit_});
  auto const all = std::exchange(points_, {});
  for (auto const& one : all)
    if (joins(one.start_ns))
      join(points_.back(), one);
    else
      push(one);
}

void duration_series::add(std::uint64_t start_ns, std::uint64_t duration_ns) {
  duration_point const next{start_ns, 1, duration_ns, duration_ns, duration_ns};
  if (joins(start_ns)) return join(points_.back(), next);
  push(next);
  while (points_.size() > limit_) widen();
}

}  // namespace gpuprof::host::page
