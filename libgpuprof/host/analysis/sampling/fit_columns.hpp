// SPDX-License-Identifier: Apache-2.0
// The rows and columns of the least-squares fit of samples: the unknowns of each kind of work, and
// the clock error of record ends.
#pragma once

#include "host/analysis/sampling/device_work.hpp"
#include "host/analysis/sampling/sample_sweep.hpp"
#include "host/analysis/sampling/sampled_figure.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace gpuprof::host {

/// True if a figure other than a clock is known. Clocks are known for all work.
bool has_figure(sample_series const& samples,
                std::vector<std::optional<sampled_figure>> const& figures);

/// Kernels do not work evenly, and samples cut them. The unknowns are
/// - for wanted launches: their amount and signed terms for uneven work (more early than late, more
///   at the ends than in the middle, and so on: Legendre polynomials of their time). Long launches
///   with many samples get more terms, and a capture with many kinds fewer;
/// - for other launches: rates of the time between their ends, and how their first and last parts
///   grow with their length;
/// - for copies and fills: an amount for each byte;
/// - one rate for all work with too few samples, and one for the time in which nothing ran.
class fit_columns {
 public:
  /// Wanted are launches without a figure of one of `metrics`, and launches that are short compared
  /// to the interval; if there are too many, those that ran longest. The metrics must have values
  /// in the same samples.
  fit_columns(sample_series const& samples, device_work const& work, figure_grid const& figures,
              std::span<std::uint32_t const> metrics, std::size_t max_unknowns);

  std::size_t size() const noexcept { return is_signed_.size(); }
  /// By unknown: true if it may be negative.
  std::vector<bool> const& is_signed() const noexcept { return is_signed_; }
  /// Returns true if the fit should give a figure for this kind.
  bool is_wanted(std::uint32_t kind) const noexcept { return wanted_[kind]; }
  bool is_any_wanted() const noexcept {
    return std::find(wanted_.begin(), wanted_.end(), true) != wanted_.end();
  }
  std::uint64_t samples_of(std::uint32_t kind) const noexcept { return touched_[kind]; }
  bool has_enough(std::uint32_t kind) const noexcept { return touched_[kind] >= enough_samples; }
  /// Returns true if the kind has unknowns of its own; their number is limited.
  bool is_own(std::uint32_t kind) const noexcept { return own_[kind]; }
  /// The first unknown of a kind: its amount.
  std::uint32_t of(std::uint32_t kind) const noexcept { return column_[kind]; }
  /// The unknown for the rate of idle time.
  std::uint32_t idle() const noexcept { return idle_; }
  /// Samples that have values and contain wanted work or no work.
  bool is_used(std::size_t sample) const noexcept { return used_[sample]; }

  /// Calls f(first, share, slopes) for each sample edge that cuts a wanted launch after this share
  /// of its time. `slopes` say how much the entries of its row from `first` on change if the cut
  /// moves by the whole length.
  template <class F>
  void each_cut(work_part const& part, F f) const {
    if (!own_[part.item->kind] || !wanted_[part.item->kind]) return;
    auto const first = column_[part.item->kind];
    auto const cut = [&](double share) {
      auto const slopes = slopes_at(share);
      f(first, share, std::span(slopes).first(columns_of(part.item->kind)));
    };
    if (part.is_begun) cut(part.share_before());
    if (part.is_left) cut(part.share_before() + part.share());
  }
  /// Drops the last terms of each kind for which says_something(unknown) is false, but keeps the
  /// minimum. Returns false if none was dropped; otherwise all unknowns have new numbers.
  template <class Predicate>
  bool narrow(Predicate says_something) {
    auto widths = width_;
    for (std::uint32_t kind = 0; kind < widths.size(); ++kind) {
      if (!own_[kind] || !wanted_[kind]) continue;
      auto& width = widths[kind];
      while (width > min_terms && !says_something(column_[kind] + width - 1)) --width;
      has_all_terms_[kind] = width < width_[kind];
    }
    if (widths == width_) return false;
    width_ = std::move(widths);
    number();
    return true;
  }
  /// True if samples would allow more terms than there was room for and the last term was
  /// significant.
  bool lacks_terms(std::uint32_t kind) const noexcept {
    if (!own_[kind] || !wanted_[kind] || has_all_terms_[kind]) return false;
    return width_[kind] == max_terms || width_[kind] < terms_for(kind);
  }
  /// The same, but also if it was samples that were too few for more terms.
  bool may_lack_terms(std::uint32_t kind) const noexcept {
    return own_[kind] && wanted_[kind] && !has_all_terms_[kind];
  }
  /// Number of unknowns of a kind that has its own, starting at of().
  std::size_t columns_of(std::uint32_t kind) const noexcept { return width_[kind]; }

  /// Returns the row of a sample. It is valid until the next call.
  std::vector<std::pair<std::uint32_t, double>> const& row(std::size_t sample,
                                                           std::span<work_part const> parts,
                                                           double busy);

 private:
  static constexpr std::uint64_t enough_samples = 8;
  static constexpr std::uint32_t min_terms = 3, max_terms = 13;
  using terms = std::array<double, max_terms>;

  static terms slopes_at(double share) noexcept;
  static terms amounts_until(double share) noexcept;
  bool is_launch(std::uint32_t kind) const noexcept {
    return work_.kinds()[kind].is == work_kind::what::launch;
  }
  bool lacks_any(std::uint32_t kind, figure_grid const& figures) const;
  void look_through();
  std::vector<std::uint32_t> longest_first() const;
  std::uint32_t terms_for(std::uint32_t kind) const noexcept;
  void choose_widths();
  void number();
  void put(std::uint32_t column, double value);
  void put_wanted(work_part const& part);
  void put_other(work_part const& part);

  sample_series const& samples_;
  device_work const& work_;
  std::span<std::uint32_t const> metrics_;
  std::size_t const max_unknowns_;
  std::vector<bool> wanted_, own_, has_all_terms_;  // by kind
  std::vector<std::uint64_t> touched_;              // samples, by kind
  std::vector<std::uint32_t> column_, width_;       // by kind
  std::vector<bool> used_;                          // by sample
  std::size_t used_samples_ = 0;
  std::uint32_t other_ = 0, idle_ = 0;  // columns
  std::vector<bool> is_signed_;
  std::vector<std::pair<std::uint32_t, double>> row_;
  std::vector<std::uint32_t> place_;  // index into `row_`, by column
};

// Estimates the clock error of record ends, and its effect on the rows of a fit.

/// Returns the standard deviation of a record's end in ns. If two kinds of launches often follow
/// each other directly, as in CUDA graphs, their gap varies by the errors of two ends or more.
/// Without such pairs, or if they vary more, uses that of a uniform error of up to 100 ns.
double clock_noise_of(device_work const& work);

/// Computes by how much wrong record ends make the products of a fit's row entries too large.
///
/// Wrong ends affect what a row says of launches that a sample cuts, and of idle time beside
/// launches.
class clock_blur {
 public:
  /// `noise_ns` is the standard deviation of an end. `columns` must outlive this object.
  clock_blur(fit_columns const& columns, double noise_ns)
      : columns_(columns), noise_ns_(noise_ns) {}

  /// Starts again without rows, for the current number of unknowns.
  void clear();
  /// Adds a piece of work in a sample whose row is part of the fit.
  void add(work_part const& part);

  /// Returns what the largest error of ends adds to the squares of this unknown.
  double noise(std::size_t unknown) const noexcept { return noise_[unknown]; }
  /// Returns what one standard deviation adds to the products of all rows, unknowns x unknowns.
  std::vector<double> const& products() const noexcept { return products_; }
  std::span<double const> row(std::size_t unknown) const noexcept {
    return std::span(products_).subspan(unknown * columns_.size(), columns_.size());
  }
  /// Adds this piece's share of products(), multiplied by a solution.
  void add_times(work_part const& part, std::vector<double> const& solution,
                 std::vector<double>& to) const;

 private:
  /// The effect of a cut on the entries from `first` on.
  struct of_cut {
    std::uint32_t first = 0;
    std::span<double const> slopes;
    double own = 0;        // times slope times slope: for products of these entries
    double with_idle = 0;  // times slope: for products with the idle-time entry
  };
  template <class F>
  double each_cut(work_part const& part, F f) const;

  fit_columns const& columns_;
  double const noise_ns_;
  std::vector<double> noise_, products_;
};

}  // namespace gpuprof::host
