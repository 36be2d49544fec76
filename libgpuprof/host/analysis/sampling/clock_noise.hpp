// SPDX-License-Identifier: Apache-2.0
// How far the ends of records are off, and what that makes of the rows of a fit.
#pragma once

#include "host/analysis/sampling/device_work.hpp"
#include "host/analysis/sampling/fit_columns.hpp"
#include "host/analysis/sampling/sample_sweep.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace gpuprof::host {

/// One deviation of an end, in ns. Where the same two kinds of launches follow each other at once
/// again and again, as in CUDA graphs, the gap between them varies by what two ends are off, if not
/// more. Without such pairs, or where they vary more, it is that of anything up to 100 ns.
double clock_noise_of(device_work const& work);

/// What ends of records that are off make of the rows of a fit: how much the products of its
/// entries are too large.
///
/// Ends of records are off, and with them what rows say of launches that a sample cuts, and of idle
/// time beside launches.
class clock_blur {
 public:
  /// `noise_ns`: one deviation of an end. `columns` must outlive it.
  clock_blur(fit_columns const& columns, double noise_ns)
      : columns_(columns), noise_ns_(noise_ns) {}

  /// For as many unknowns as there are now, of no rows.
  void clear();
  /// A piece of work in a sample, whose row is part of the fit.
  void add(work_part const& part);

  /// What ends being off by anything they may be adds to the squares of this unknown.
  double noise(std::size_t unknown) const noexcept { return noise_[unknown]; }
  /// What one deviation adds to the products of all rows, by unknown and unknown.
  std::vector<double> const& products() const noexcept { return products_; }
  std::span<double const> row(std::size_t unknown) const noexcept {
    return std::span(products_).subspan(unknown * columns_.size(), columns_.size());
  }
  /// Adds the products that this piece makes, times a solution.
  void add_times(work_part const& part, std::vector<double> const& solution,
                 std::vector<double>& to) const;

 private:
  /// Of the entries of a cut, from `first` on.
  struct of_cut {
    std::uint32_t first = 0;
    std::span<double const> slopes;
    double own = 0;        // times slope times slope: of their products
    double with_idle = 0;  // times slope: of those with the entry of idle time
  };
  template <class F>
  double each_cut(work_part const& part, F f) const;

  fit_columns const& columns_;
  double const noise_ns_;
  std::vector<double> noise_, products_;
};

}  // namespace gpuprof::host
