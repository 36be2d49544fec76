// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sampling/attribution_steps.hpp"
#include "host/analysis/sampling/nonnegative_fit.hpp"
#include "host/analysis/sampling/sample_sweep.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace gpuprof::host {
namespace {

// Kinds with a rate of their own; the others, which ran shortest, share one.
constexpr std::size_t max_rates = 256;
// Error of what is subtracted, as a share: kernels may do less at their ends, or nothing.
constexpr double rate_doubt = 0.5;

/// The rates at which work without tensor instructions moves counters of the tensor cores.
class tensor_background {
 public:
  tensor_background(sample_series& samples, device_work const& work, device_work const& with_tensor,
                    std::vector<bool> const& without_tensor, std::span<std::uint32_t const> columns)
      : samples_(samples),
        work_(work),
        with_tensor_(with_tensor),
        without_tensor_(without_tensor),
        columns_(columns) {}

  void learn() {
    number_kinds();
    nonnegative_fit fit(std::vector<bool>(unknowns_), columns_.size());
    std::vector<double> right(columns_.size()), sums(columns_.size());
    double busy_ns = 0;
    seen_.assign(unknowns_, false);
    each_sample([&](std::size_t s, sparse_row row, double busy) {
      if (row.empty() || is_near_tensor_work(samples_.intervals()[s])) return;
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        right[i] = samples_.amount(s, columns_[i]);
        if (std::isnan(right[i])) return;
      }
      fit.add(row, right);
      for (std::size_t i = 0; i < columns_.size(); ++i) sums[i] += right[i];
      for (auto const& [unknown, ns] : row) seen_[unknown] = true;
      busy_ns += busy;
    });
    rates_ = fit.solve();
    for (std::size_t i = 0; i < columns_.size(); ++i)
      for (std::size_t unknown = 0; unknown < unknowns_; ++unknown)
        if (!seen_[unknown]) rates_[i][unknown] = busy_ns > 0 ? sums[i] / busy_ns : 0;
  }

  std::vector<std::vector<float>> subtract() {
    std::vector<std::vector<float>> doubts(columns_.size(), std::vector<float>(samples_.size()));
    each_sample([&](std::size_t s, sparse_row row, double) {
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        double amount = 0, doubt = 0;
        for (auto const& [unknown, ns] : row) {
          amount += ns * rates_[i][unknown];
          doubt += ns * rates_[i][unknown] * (seen_[unknown] ? rate_doubt : 1);
        }
        if (!(amount > 0)) continue;
        samples_.subtract(s, columns_[i], amount);
        doubts[i][s] = static_cast<float>(doubt);
      }
    });
    return doubts;
  }

 private:
  void number_kinds() {
    auto const kinds = work_.kinds();
    std::vector<std::uint32_t> longest;
    for (std::uint32_t kind = 0; kind < kinds.size(); ++kind)
      if (kinds[kind].is == work_kind::what::launch && without_tensor_[kind])
        longest.push_back(kind);
    std::stable_sort(longest.begin(), longest.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return kinds[a].ns > kinds[b].ns; });
    unknowns_ = static_cast<std::uint32_t>(std::min(longest.size(), max_rates));
    unknown_.assign(kinds.size(), none);
    for (std::uint32_t i = 0; i < longest.size(); ++i)
      unknown_[longest[i]] = std::min(i, unknowns_ - 1);
  }

  /// Calls take(sample, row, busy) with the ns of each unknown in the sample.
  template <class Take>
  void each_sample(Take take) {
    std::vector<std::pair<std::uint32_t, double>> row;
    sweep_samples(
        samples_, work_, [&](std::size_t s, std::span<work_part const> parts, double busy) {
          row.clear();
          for (auto const& part : parts) {
            auto const unknown = unknown_[part.item->kind];
            if (unknown == none) continue;
            auto const at = std::find_if(row.begin(), row.end(),
                                         [&](auto const& entry) { return entry.first == unknown; });
            if (at == row.end())
              row.emplace_back(unknown, part.ns);
            else
              at->second += part.ns;
          }
          take(s, sparse_row(row), busy);
        });
  }

  /// Samples come in order of time, so the item that may be near only moves forward.
  bool is_near_tensor_work(sample_interval const& interval) {
    auto const items = with_tensor_.items();
    while (next_ < items.size() && items[next_].start < interval.end + clock_slack_ns)
      latest_end_ = std::max(latest_end_, items[next_++].end);
    return latest_end_ + clock_slack_ns > interval.start;
  }

  static constexpr auto none = ~std::uint32_t{0};
  sample_series& samples_;
  device_work const& work_;
  device_work const& with_tensor_;
  std::vector<bool> const& without_tensor_;
  std::span<std::uint32_t const> columns_;
  std::uint32_t unknowns_ = 0;
  std::vector<std::uint32_t> unknown_;      // by kind
  std::vector<bool> seen_;                  // by unknown: in a sample without tensor work
  std::vector<std::vector<double>> rates_;  // by column, then unknown; per ns
  std::size_t next_ = 0;                    // of the items with tensor instructions
  std::uint64_t latest_end_ = 0;            // of those before
};

}  // namespace

std::vector<std::vector<float>> subtract_work_without_tensor(
    sample_series& samples, device_work const& work, device_work const& with_tensor,
    std::vector<bool> const& without_tensor, std::span<std::uint32_t const> columns) {
  tensor_background background(samples, work, with_tensor, without_tensor, columns);
  background.learn();
  return background.subtract();
}

void add_doubts(sample_series const& samples, device_work const& work,
                std::span<std::uint32_t const> columns, std::span<std::vector<float> const> doubts,
                figure_grid& figures) {
  std::vector<double> launches(work.kinds().size());
  std::vector<std::vector<double>> sums(columns.size(), std::vector<double>(launches.size()));
  sweep_samples(samples, work, [&](std::size_t s, std::span<work_part const> parts, double) {
    for (auto const& part : parts) {
      launches[part.item->kind] += part.share();
      for (std::size_t i = 0; i < columns.size(); ++i)
        sums[i][part.item->kind] += doubts[i][s] / static_cast<double>(parts.size());
    }
  });
  for (std::size_t i = 0; i < columns.size(); ++i)
    for (std::size_t kind = 0; kind < launches.size(); ++kind) {
      auto& figure = figures[kind][columns[i]];
      if (!figure || !(launches[kind] > 0)) continue;
      auto const doubt = sums[i][kind] / launches[kind];
      figure->error = std::hypot(figure->error, doubt);
      figure->doubt = std::hypot(figure->doubt, doubt);
    }
}

}  // namespace gpuprof::host
