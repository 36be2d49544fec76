// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/samples.hpp"

#include <algorithm>
#include <cmath>

namespace gpuprof::host {
namespace {

template <class Value>
void take_sum_and_bounds(std::vector<Value> const& values, statistics& out) {
  for (std::uint64_t const value : values) {
    out.total += value;
    out.minimum = std::min(out.minimum, value);
    out.maximum = std::max(out.maximum, value);
  }
}

template <class Value>
double squared_distances(std::vector<Value> const& values, double average) {
  double sum = 0;
  for (auto const value : values) {
    auto const distance = static_cast<double>(value) - average;
    sum += distance * distance;
  }
  return sum;
}

}  // namespace

void samples::add_all(samples const& other) {
  small_.insert(small_.end(), other.small_.begin(), other.small_.end());
  large_.insert(large_.end(), other.large_.begin(), other.large_.end());
}

std::uint64_t samples::nth_smallest(std::size_t n) {
  auto const select = [](auto& values, std::size_t i) {
    auto const at = values.begin() + static_cast<std::ptrdiff_t>(i);
    std::nth_element(values.begin(), at, values.end());
    return static_cast<std::uint64_t>(*at);
  };
  return n < small_.size() ? select(small_, n) : select(large_, n - small_.size());
}

statistics samples::summarize() {
  auto const n = count();
  if (n == 0) return {};
  statistics out{.count = n, .minimum = std::numeric_limits<std::uint64_t>::max()};
  take_sum_and_bounds(small_, out);
  take_sum_and_bounds(large_, out);
  out.average = static_cast<double>(out.total) / static_cast<double>(n);
  auto const upper = static_cast<double>(nth_smallest(n / 2));
  out.median = n % 2 == 1 ? upper : (static_cast<double>(nth_smallest(n / 2 - 1)) + upper) / 2;
  if (n > 1) {
    auto const sum =
        squared_distances(small_, out.average) + squared_distances(large_, out.average);
    out.deviation = std::sqrt(sum / static_cast<double>(n - 1));
  }
  return out;
}

}  // namespace gpuprof::host
