// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sweep/sweep_points.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

namespace gpuprof::host {
namespace {

/// Mean and range of the points that have the value.
struct mean_of {
  double sum = 0, least = 0, greatest = 0;
  std::uint32_t count = 0;

  void add(std::optional<double> value) noexcept {
    if (!value) return;
    least = count == 0 ? *value : std::min(least, *value);
    greatest = count == 0 ? *value : std::max(greatest, *value);
    sum += *value;
    ++count;
  }
  std::optional<double> mean() const noexcept {
    return count == 0 ? std::nullopt : std::optional(sum / count);
  }
  std::optional<value_range> range() const noexcept {
    return count < 2 ? std::nullopt : std::optional(value_range{least, greatest});
  }
};

/// Numbers sizes, and labels that are not numbers, in order of first appearance.
class numbered_sizes {
 public:
  std::size_t number_of(sweep_point const& point) {
    auto const next = sizes_.size() + labels_.size();
    return point.size ? sizes_.try_emplace(*point.size, next).first->second
                      : labels_.try_emplace(point.label, next).first->second;
  }

 private:
  std::map<double, std::size_t> sizes_;
  std::map<std::string_view, std::size_t> labels_;
};

/// Returns the most common value. If there are several, returns the first.
template <class Value, class Get>
Value commonest(std::span<sweep_point const* const> points, Get get) {
  std::vector<std::pair<Value, std::size_t>> times;  // few different values
  for (auto const* point : points) {
    auto const value = get(*point);
    auto const known = std::find_if(times.begin(), times.end(),
                                    [&](auto const& one) { return one.first == value; });
    if (known != times.end())
      ++known->second;
    else
      times.emplace_back(value, 1);
  }
  return std::max_element(times.begin(), times.end(),
                          [](auto const& a, auto const& b) { return a.second < b.second; })
      ->first;
}

sweep_point mean_point(std::span<sweep_point const* const> points) {
  auto out = *points.front();
  if (points.size() == 1) return out;
  out.captures = 0;
  out.calls = 0;
  mean_of time, flops, bytes, share;
  for (auto const* point : points) {
    out.captures += point->captures;
    out.calls += point->calls;
    time.add(point->time_per_call);
    flops.add(point->flops);
    bytes.add(point->bytes);
    share.add(point->of_roof);
  }
  out.time_per_call = time.mean();
  out.flops = flops.mean();
  out.bytes = bytes.mean();
  out.of_roof = share.mean();
  out.times_per_call = time.range();
  out.all_flops = flops.range();
  out.all_bytes = bytes.range();
  out.flops_from =
      commonest<flop_source>(points, [](sweep_point const& p) { return p.flops_from; });
  out.bytes_from =
      commonest<byte_source>(points, [](sweep_point const& p) { return p.bytes_from; });
  out.bound = commonest<bound_by>(points, [](sweep_point const& p) { return p.bound; });
  return out;
}

}  // namespace

std::string_view name_of(byte_source source) noexcept {
  switch (source) {
    case byte_source::counted:
      return "counted";
    case byte_source::declared:
      return "declared";
    case byte_source::not_measured:
      break;
  }
  return "";
}

std::optional<double> spread_of(std::optional<value_range> const& range,
                                std::optional<double> mean) noexcept {
  if (!range || !mean || !(*mean > 0)) return std::nullopt;
  return (range->greatest - range->least) / *mean;
}

std::optional<double> size_of(std::string_view label) noexcept {
  double value = 0;
  auto const [end, failed] = std::from_chars(label.data(), label.data() + label.size(), value);
  bool const is_number =
      failed == std::errc() && end == label.data() + label.size() && std::isfinite(value);
  return is_number ? std::optional(value) : std::nullopt;
}

bool has_sizes(std::span<sweep_point const> points) noexcept {
  return std::all_of(points.begin(), points.end(),
                     [](sweep_point const& point) { return point.size.has_value(); });
}

std::vector<sweep_point> in_order(std::span<sweep_point const> points) {
  std::vector<std::vector<sweep_point const*>> groups;
  numbered_sizes sizes;
  for (auto const& point : points) {
    auto const number = sizes.number_of(point);
    if (number == groups.size()) groups.emplace_back();
    groups[number].push_back(&point);
  }
  std::vector<sweep_point> out;
  for (auto const& group : groups) out.push_back(mean_point(group));
  if (has_sizes(out))
    std::sort(out.begin(), out.end(),
              [](sweep_point const& a, sweep_point const& b) { return *a.size < *b.size; });
  return out;
}

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
