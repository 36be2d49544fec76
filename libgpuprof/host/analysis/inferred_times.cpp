// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/inferred_times.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace gpuprof::host {
namespace {

/// Times of records are multiples of 32 ns: both ends are wrong by up to half of that.
constexpr double least_variance = 32.0 * 32.0 / 6;

/// How much wider the error of few values is, so that twice of it holds in 95 % (Student's t).
double widened_for(double freedom) noexcept {
  constexpr double of_two_values = 7;
  return freedom > 1.4 ? std::min(freedom / (freedom - 1.2), of_two_values) : of_two_values;
}

/// Returns the place of the numbered entry of a graph in a list that may grow by it.
template <class List>
std::uint32_t place_of(graph_id graph, std::uint32_t number, List& list,
                       std::unordered_map<std::uint64_t, std::uint32_t>& places) {
  auto const next = static_cast<std::uint32_t>(list.size());
  auto const [at, is_new] = places.try_emplace(std::uint64_t{raw(graph)} << 32 | number, next);
  if (is_new) list.emplace_back();
  return at->second;
}

}  // namespace

/// A timed launch may have the times of a later whole; further launches with these were not timed.
/// One that has those of an earlier launch was not timed.
bool inferred_times::timed_launches::holds(node const& ran) const noexcept {
  if (raw(ran.time_of) == 0 || ran.launch == last.id || ran.launch == before.id) return true;
  return ran.time_of > ran.launch && ran.time_of != first && ran.time_of != last.time_of;
}

void inferred_times::timed_launches::close(open_launch const& one) noexcept {
  if (raw(one.id) == 0) return;
  ++launches;
  auto const off = one.ns - mean_ns;
  mean_ns += off / static_cast<double>(launches);
  squares += off * (one.ns - mean_ns);
}

void inferred_times::timed_launches::add(node const& ran) noexcept {
  auto const ns = static_cast<double>(ran.ns);
  if (ran.launch == before.id) {
    before.ns += ns;
    return;
  }
  if (ran.launch != last.id) {
    close(before);
    before = last;
    last = {ran.launch, ran.time_of, 0};
    if (raw(first) == 0) first = ran.launch;
  }
  last.ns += ns;
}

void inferred_times::series::add(node const& ran) noexcept {
  inferred_ns += static_cast<double>(ran.ns);
  if (ran.launch == last || ran.launch == before) return;
  before = last;
  last = ran.launch;
  if (ran.time_of != times_from) {
    squares_of_counts += static_cast<double>(of_last) * static_cast<double>(of_last);
    times_from = ran.time_of;
    of_last = 0;
  }
  ++inferred;
  ++of_last;
}

/// The sum differs from the truth by what n launches take that were not timed, and by each timed
/// launch as often as others have its times.
std::optional<inferred_times::known_error> inferred_times::error_of(series const& of,
                                                                    double share) const noexcept {
  auto all = timed_[of.timed];
  all.close(all.before);
  all.close(all.last);
  if (all.launches < 2) return std::nullopt;
  auto const freedom = static_cast<double>(all.launches - 1);
  auto const variance = std::max(least_variance, all.squares / freedom);
  auto const last = static_cast<double>(of.of_last);
  auto const counts = share * share * (of.squares_of_counts + last * last) +
                      share * static_cast<double>(of.inferred);
  return known_error{std::sqrt(variance * counts), freedom};
}

void inferred_times::add_node(node const& ran, std::span<std::uint32_t const> lines,
                              std::uint32_t alike) {
  auto const at = place_of(ran.graph, alike, timed_, timed_at_);
  if (timed_[at].holds(ran)) {
    timed_[at].add(ran);
    return;
  }
  for (auto const line : lines) {
    auto const place = place_of(ran.graph, line, series_, series_at_);
    auto& of = series_[place];
    if (of.inferred == 0) {
      of.graph = ran.graph;
      of.timed = at;
      if (of_line_.size() <= line) of_line_.resize(line + std::size_t{1});
      of_line_[line].push_back(place);
    }
    of.add(ran);
  }
}

inferred_time inferred_times::of(std::span<part const> parts) const {
  inferred_time sum;
  std::map<graph_id, known_error> by_graph;
  for (auto const& part : parts) {
    if (part.line >= of_line_.size()) continue;
    for (auto const index : of_line_[part.line]) {
      auto const& of = series_[index];
      sum.ns += part.share * of.inferred_ns;
      auto const error = error_of(of, part.share);
      if (!error) sum.error_ns.reset();
      if (!error) continue;
      auto const [at, is_new] = by_graph.try_emplace(of.graph, *error);
      if (is_new) continue;
      at->second.ns += error->ns;
      at->second.freedom = std::min(at->second.freedom, error->freedom);
    }
  }
  if (!sum.error_ns || by_graph.empty()) return sum;
  double squares = 0, of_squares = 0;
  for (auto const& [_, error] : by_graph) {
    auto const square = error.ns * error.ns;
    squares += square;
    of_squares += square * square / error.freedom;
  }
  sum.freedom = squares * squares / of_squares;  // Welch
  sum.widened_by = widened_for(sum.freedom);
  sum.error_ns = sum.widened_by * std::sqrt(squares);
  return sum;
}

}  // namespace gpuprof::host
