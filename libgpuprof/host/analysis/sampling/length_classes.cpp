// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sampling/length_classes.hpp"

#include <algorithm>
#include <cmath>

namespace gpuprof::host {
namespace {

// Launches that differ by less than this, one deviation, are taken to count alike.
constexpr double alike_within = 0.2;
// The longest of a class to its shortest. Wider where there would be too many classes: each is
// told apart on its own.
constexpr double class_width = 1.6;
constexpr std::size_t max_classes = 8;
// So much of the time may be in classes without a figure: launches that were held up. The error
// takes them for as different as that.
constexpr double max_unknown = 0.25;

bool are_alike(std::span<std::uint64_t const> lengths) {
  double sum = 0, squares = 0;
  for (auto const length : lengths) sum += static_cast<double>(length);
  auto const n = static_cast<double>(lengths.size());
  for (auto const length : lengths) {
    auto const off = static_cast<double>(length) - sum / n;
    squares += off * off;
  }
  return std::sqrt(squares / n) <= alike_within * sum / n;
}

std::vector<std::uint64_t> limits_by_width(std::span<std::uint64_t const> sorted, double width) {
  std::vector<std::uint64_t> limits;
  auto shortest = static_cast<double>(sorted.front());
  for (auto const length : sorted) {
    if (static_cast<double>(length) <= shortest * width) continue;
    limits.push_back(length);
    shortest = static_cast<double>(length);
  }
  return limits;
}

}  // namespace

std::vector<std::uint64_t> length_limits(std::vector<std::uint64_t> lengths) {
  if (lengths.empty() || are_alike(lengths)) return {};
  std::sort(lengths.begin(), lengths.end());
  auto width = class_width;
  auto limits = limits_by_width(lengths, width);
  while (limits.size() >= max_classes) limits = limits_by_width(lengths, width *= class_width);
  return limits;
}

std::optional<sampled_figure> put_together(std::span<class_figure const> classes, summing how) {
  if (classes.size() == 1) return classes.front().figure;
  double all_ns = 0, known_ns = 0, weights = 0;
  sampled_figure all;
  auto const weight_of = [&](class_figure const& of) {
    return how == summing::amount ? static_cast<double>(of.launches) : of.ns;
  };
  for (auto const& of : classes) {
    all_ns += of.ns;
    auto const weight = weight_of(of);
    if (!of.figure || !(weight > 0)) continue;
    known_ns += of.ns;
    weights += weight;
    all.mean += weight * of.figure->mean;
    all.error += weight * of.figure->error;  // of one fit: they may well err together
    all.doubt += weight * of.figure->doubt;
    all.launches += of.figure->launches;
    all.is_fitted = all.is_fitted || of.figure->is_fitted;
  }
  auto const unknown = all_ns > 0 ? 1 - known_ns / all_ns : 1;
  if (!(weights > 0) || unknown > max_unknown) return std::nullopt;
  all.mean /= weights;
  all.doubt /= weights;
  // How many launches of each class there were in the samples is by chance, too.
  double squares = 0, launches = 0;
  for (auto const& of : classes) {
    if (!of.figure) continue;
    auto const off = of.figure->mean - all.mean;
    squares += weight_of(of) * off * off;
    launches += static_cast<double>(of.launches);
  }
  auto const mix = launches > 0 ? std::sqrt(squares / weights / launches) : 0;
  all.error = std::hypot(all.error / weights, mix, unknown * all.mean);
  all.doubt = std::hypot(all.doubt, unknown * all.mean);
  return all;
}

}  // namespace gpuprof::host
