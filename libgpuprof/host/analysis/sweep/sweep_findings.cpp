// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sweep/sweep_findings.hpp"

#include <algorithm>
#include <cmath>

namespace gpuprof::host {
namespace {

bool is_compute(sweep_point const& point) noexcept {
  return point.bound.what == bound_by::kind::compute;
}
bool is_memory(sweep_point const& point) noexcept {
  return point.bound.what == bound_by::kind::dram || point.bound.what == bound_by::kind::l2;
}

std::size_t count_of(std::span<sweep_point const> points, sweep_figure figure) {
  return static_cast<std::size_t>(std::count_if(points.begin(), points.end(), [&](auto const& p) {
    return figure_of(p, figure).has_value();
  }));
}

sweep_figure judged_figure(std::span<sweep_point const> points) {
  auto const flops = count_of(points, sweep_figure::flops);
  auto const bytes = count_of(points, sweep_figure::bytes);
  bool const memory_alone = std::any_of(points.begin(), points.end(), is_memory) &&
                            std::none_of(points.begin(), points.end(), is_compute);
  if (bytes > 0 && (memory_alone || flops == 0)) return sweep_figure::bytes;
  return flops > 0 ? sweep_figure::flops : sweep_figure::none;
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  auto const middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::optional<sweep_plateau> plateau_of(std::span<sweep_point const> points, sweep_figure figure) {
  if (figure == sweep_figure::none || count_of(points, figure) < 2) return std::nullopt;
  sweep_plateau out;
  for (std::size_t i = 0; i < points.size(); ++i) {
    auto const value = figure_of(points[i], figure);
    if (!value || *value <= out.greatest) continue;
    out.greatest = *value;
    out.fastest = i;
  }
  std::vector<double> values, shares;
  for (std::size_t i = 0; i < points.size(); ++i) {
    auto const value = figure_of(points[i], figure);
    if (!value || *value < (1 - plateau_width) * out.greatest) continue;
    out.points.push_back(i);
    values.push_back(*value);
    if (points[i].of_roof) shares.push_back(*points[i].of_roof);
  }
  out.value = median_of(std::move(values));
  if (!shares.empty()) out.of_roof = median_of(std::move(shares));
  return out;
}

std::vector<sweep_findings::turn> turns_of(std::span<sweep_point const> points) {
  std::vector<sweep_findings::turn> out;
  std::optional<std::size_t> last;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!is_compute(points[i]) && !is_memory(points[i])) continue;
    if (last && is_compute(points[*last]) != is_compute(points[i]))
      out.push_back({*last, i, is_compute(points[i])});
    last = i;
  }
  return out;
}

void find_places(sweep_findings& found, std::span<sweep_point const> points) {
  auto const& plateau = *found.plateau;
  for (std::size_t i = 0; i < points.size() && !found.reached; ++i)
    if (figure_of(points[i], found.judged).value_or(0) >= plateau_reached_at * plateau.value)
      found.reached = i;
  if (plateau.of_roof)
    for (auto i = plateau.points.front() + 1; i < points.size() && !found.leaves_roof; ++i)
      if (points[i].of_roof && *points[i].of_roof < roof_left_below * *plateau.of_roof)
        found.leaves_roof = i;
  found.still_rises = plateau.points.size() == 1 && plateau.fastest + 1 == points.size();
}

}  // namespace

std::optional<double> figure_of(sweep_point const& point, sweep_figure figure) noexcept {
  auto const value = figure == sweep_figure::flops   ? point.flops
                     : figure == sweep_figure::bytes ? point.bytes
                                                     : std::nullopt;
  return value && *value > 0 && std::isfinite(*value) ? value : std::nullopt;
}

sweep_findings find_in(std::span<sweep_point const> points) {
  sweep_findings found;
  found.is_ordered = has_sizes(points);
  found.judged = judged_figure(points);
  found.plateau = plateau_of(points, found.judged);
  if (!found.is_ordered) return found;
  if (found.plateau) find_places(found, points);
  found.turns = turns_of(points);
  return found;
}

}  // namespace gpuprof::host
