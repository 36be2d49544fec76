// SPDX-License-Identifier: Apache-2.0
// The rows and columns of a fit: which unknown each kind of work stands for when samples are told
// apart, and how far the ends of records are off.
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

/// Whether anything is known. Clocks are, of everything: they do not count.
bool has_figure(sample_series const& samples,
                std::vector<std::optional<sampled_figure>> const& figures);

/// Kernels do not work evenly, and samples cut them. Unknowns are
/// - for launches that are looked for: their amount, and how much more of it comes early than late,
///   at the ends than in the middle, and so on, of either sign: Legendre polynomials of their time,
///   the more the longer they are, the more samples hold them, and the fewer kinds there are;
/// - for other launches: rates of the time between their ends, and how their first and last parts
///   grow with their length;
/// - for copies and fills: an amount for each byte;
/// - one rate for all work with too few samples, and one for the time in which nothing ran.
class fit_columns {
 public:
  /// Looks for launches that lack a figure of one of these metrics, which have values in the same
  /// samples, and for those whose ends are much of them; where these are too many, for those that
  /// ran longest.
  fit_columns(sample_series const& samples, device_work const& work, figure_grid const& figures,
              std::span<std::uint32_t const> metrics, std::size_t max_unknowns);

  std::size_t size() const noexcept { return is_signed_.size(); }
  /// By unknown: whether it may be negative.
  std::vector<bool> const& is_signed() const noexcept { return is_signed_; }
  /// Whether launches of this kind are what is looked for.
  bool is_wanted(std::uint32_t kind) const noexcept { return wanted_[kind]; }
  bool is_any_wanted() const noexcept {
    return std::find(wanted_.begin(), wanted_.end(), true) != wanted_.end();
  }
  std::uint64_t samples_of(std::uint32_t kind) const noexcept { return touched_[kind]; }
  bool has_enough(std::uint32_t kind) const noexcept { return touched_[kind] >= enough_samples; }
  /// Whether it is told apart from others: the number of unknowns is bounded.
  bool is_own(std::uint32_t kind) const noexcept { return own_[kind]; }
  /// The unknown amount of a kind.
  std::uint32_t of(std::uint32_t kind) const noexcept { return column_[kind]; }
  /// The rate of the time in which nothing ran.
  std::uint32_t idle() const noexcept { return idle_; }
  /// Samples that have values, with work that is looked for or with none.
  bool is_used(std::size_t sample) const noexcept { return used_[sample]; }

  /// Calls f(first, share, slopes) for each end of a sample that cuts a launch that is looked for
  /// when that share of its time is over: by how much the entries of its row from `first` on change
  /// when the cut moves by all its length.
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
  /// Leaves out the terms after the last of a kind for which says_something(unknown), but never the
  /// first ones. False: there are none; else all unknowns have new numbers.
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
  /// There was no room for all terms that its samples could tell, and of those it has none says
  /// nothing.
  bool lacks_terms(std::uint32_t kind) const noexcept {
    if (!own_[kind] || !wanted_[kind] || has_all_terms_[kind]) return false;
    return width_[kind] == max_terms || width_[kind] < terms_for(kind);
  }
  /// How many unknowns a kind has that is told apart, from of() on.
  std::size_t columns_of(std::uint32_t kind) const noexcept { return width_[kind]; }

  /// The row of a sample; valid until the next call.
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
  std::vector<std::uint32_t> place_;  // in row_, by column
};

// How far the ends of records are off, and what that makes of the rows of a fit.

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
