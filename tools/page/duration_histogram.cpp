// SPDX-License-Identifier: Apache-2.0
#include "page/duration_histogram.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gpuprof::page {
namespace {

using edge_list = std::vector<std::uint64_t>;

/// Up to and including `to`, each wider than the one before by one factor, at least 1 ns.
edge_list growing_edges(std::uint64_t from, std::uint64_t to, std::size_t bins) {
  auto const factor = std::pow((static_cast<double>(to) + 1) / static_cast<double>(from),
                               1.0 / static_cast<double>(bins));
  edge_list edges{from};
  auto edge = static_cast<double>(from);
  for (std::size_t bin = 1; bin < bins; ++bin) {
    edge *= factor;
    auto const next = static_cast<std::uint64_t>(std::llround(edge));
    if (next > edges.back() && next <= to) edges.push_back(next);
  }
  edges.push_back(to + 1);
  return edges;
}

/// Bins from `first` to before `last`.
struct bin_span {
  std::size_t first = 0, last = 0;
};

bin_span without_ends(std::vector<std::uint32_t> const& counts, double share) {
  auto const all = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  auto const most = static_cast<std::uint64_t>(share * static_cast<double>(all));
  bin_span kept{0, counts.size()};
  for (std::uint64_t cut = 0; kept.first < kept.last; ++kept.first)
    if ((cut += counts[kept.first]) > most) break;
  for (std::uint64_t cut = 0; kept.last > kept.first + 1; --kept.last)
    if ((cut += counts[kept.last - 1]) > most) break;
  return kept;
}

/// The end that the bin beginning at `from` should have.
std::uint64_t end_of_bin(std::uint64_t from, std::uint64_t width, double factor) {
  auto const grown = static_cast<std::uint64_t>(static_cast<double>(from) * factor);
  return std::max({from + width, grown, from + duration_histogram::narrowest_ns});
}

}  // namespace

duration_histogram::duration_histogram(std::uint64_t shortest_ns, std::uint64_t longest_ns)
    : edges_(growing_edges(std::max<std::uint64_t>(1, shortest_ns),
                           std::max<std::uint64_t>({1, shortest_ns, longest_ns}), narrow_bins)),
      counts_(edges_.size() - 1) {}

void duration_histogram::add(std::uint64_t duration_ns) {
  auto const above = std::upper_bound(edges_.begin(), edges_.end(), duration_ns);
  auto const bin = std::max<std::ptrdiff_t>(0, above - edges_.begin() - 1);
  ++counts_[std::min(static_cast<std::size_t>(bin), counts_.size() - 1)];
}

shown_durations duration_histogram::shown() const {
  bin_span of{0, counts_.size()};
  auto const most = without_ends(counts_, far_share);
  if (edges_.back() - edges_.front() > far_factor * (edges_[most.last] - edges_[most.first]))
    of = most;
  shown_durations made;
  auto const begin = counts_.begin();
  auto const at = [begin](std::size_t bin) { return begin + static_cast<std::ptrdiff_t>(bin); };
  made.shorter = std::accumulate(begin, at(of.first), std::uint64_t{0});
  made.longer = std::accumulate(at(of.last), counts_.end(), std::uint64_t{0});
  auto const from = edges_[of.first], to = edges_[of.last];
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
    made.counts.back() += counts_[bin];
    if (edges_[bin + 1] < end && bin + 1 < of.last) continue;
    made.edges.push_back(edges_[bin + 1]);
    end = end_of_bin(edges_[bin + 1], width, factor);
  }
  if (made.counts.size() == 1)  // all alike
    made.edges.back() = std::max(made.edges.back(), from + narrowest_ns);
  return made;
}

}  // namespace gpuprof::page
