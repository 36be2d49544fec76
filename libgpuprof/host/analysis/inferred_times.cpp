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
double widened_for(std::uint64_t values) noexcept {
  if (values == 2) return 7.0;
  auto const freedom = static_cast<double>(values - 1);
  return freedom / (freedom - 1.2);
}

}  // namespace

/// A timed launch may have the times of a later whole. One that has those of an earlier launch was
/// not timed.
bool inferred_times::series::is_timed(node const& ran) const noexcept {
  if (raw(ran.time_of) == 0) return true;
  return ran.time_of > ran.launch && ran.time_of != first_timed;
}

void inferred_times::series::close_timed() noexcept {
  if (raw(last_timed) == 0) return;
  ++timed;
  auto const off = last_ns - mean_ns;
  mean_ns += off / static_cast<double>(timed);
  squares += off * (last_ns - mean_ns);
}

void inferred_times::series::add(node const& ran) noexcept {
  auto const ns = static_cast<double>(ran.ns);
  if (is_timed(ran)) {
    if (ran.launch != last_timed) {
      close_timed();
      last_timed = ran.launch;
      if (raw(first_timed) == 0) first_timed = last_timed;
      last_ns = 0;
    }
    last_ns += ns;
    return;
  }
  inferred_ns += ns;
  if (ran.launch == last_inferred) return;
  last_inferred = ran.launch;
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
std::optional<double> inferred_times::series::error_ns() const noexcept {
  if (inferred == 0) return 0.0;
  auto all = *this;
  all.close_timed();
  if (all.timed < 2) return std::nullopt;
  auto const variance = std::max(least_variance, all.squares / static_cast<double>(all.timed - 1));
  auto const last = static_cast<double>(of_last);
  return widened_for(all.timed) *
         std::sqrt(variance * (squares_of_counts + last * last + static_cast<double>(inferred)));
}

void inferred_times::add_node(node const& ran, std::uint32_t line) {
  auto const key = std::uint64_t{raw(ran.graph)} << 32 | line;
  auto const next = static_cast<std::uint32_t>(series_.size());
  auto const [at, is_new] = index_.try_emplace(key, next);
  if (is_new) {
    series_.emplace_back().graph = ran.graph;
    if (of_line_.size() <= line) of_line_.resize(line + std::size_t{1});
    of_line_[line].push_back(next);
  }
  auto& of = series_[at->second];
  of.add(ran);
  any_ = any_ || of.inferred > 0;
}

inferred_time inferred_times::of(std::span<part const> parts) const {
  inferred_time sum;
  std::map<graph_id, double> by_graph;
  for (auto const& part : parts) {
    if (part.line >= of_line_.size()) continue;
    for (auto const index : of_line_[part.line]) {
      auto const& of = series_[index];
      sum.ns += part.share * of.inferred_ns;
      auto const error = of.error_ns();
      if (!error) sum.error_ns.reset();
      if (error) by_graph[of.graph] += part.share * *error;
    }
  }
  if (!sum.error_ns) return sum;
  double squares = 0;
  for (auto const& [_, error] : by_graph) squares += error * error;
  sum.error_ns = std::sqrt(squares);
  return sum;
}

}  // namespace gpuprof::host
