// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sampling/attribution_steps.hpp"
#include "host/analysis/sampling/fit_columns.hpp"
#include "host/analysis/sampling/nonnegative_fit.hpp"
#include "host/analysis/sampling/sampled_figure.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace gpuprof::host {
namespace {

// Limits for accepting a fit: the differences between kinds must be well above the errors of record
// ends.
constexpr double max_noise = 0.05;
constexpr double max_inflation = 1e4;

// Errors are computed from chunks of successive samples, which are treated as independent.
constexpr std::size_t least_chunk = 16, max_chunks = 256;
constexpr std::uint64_t enough_chunks = 4;  // more than the 3 that small_numbers() subtracts

/// A fitted metric: the right sides for its amounts and, for a mean over active cycles, for the
/// cycles.
struct fitted_metric {
  std::uint32_t column = 0;
  std::size_t amounts = 0;            // right side
  std::optional<std::size_t> cycles;  // right side
  double total = 0;                   // sum of the amounts over all used samples
  // sums of score products over chunks, by unknown
  std::vector<double> squares, of_cycles, product;
};

/// Fits the metrics that have values in the same samples.
class sample_fit {
 public:
  sample_fit(sample_series const& samples, device_work const& work, fit_columns& columns,
             std::vector<std::uint32_t> const& metrics, std::vector<bool> const& without_tensor)
      : samples_(samples),
        work_(work),
        columns_(columns),
        without_tensor_(without_tensor),
        blur_(columns, clock_noise_of(work)) {
    for (auto const column : metrics) {
      fitted_metric metric;
      metric.column = column;
      metric.amounts = right_.size();
      right_.push_back(0);
      if (samples.metric(column).how == summing::over_active_cycles) {
        metric.cycles = right_.size();
        right_.push_back(0);
      }
      metrics_.push_back(std::move(metric));
    }
  }

  void run() {
    accumulate();
    solution_ = fit_->solve();
    leave_out_noise();
    correct_for_clocks();
    leave_out_finest();
    score();
  }

  no_figure judge(std::uint32_t kind) const {
    auto const j = columns_.of(kind);
    if (columns_.has_enough(kind) && !columns_.is_own(kind)) return no_figure::too_many;
    if (!columns_.has_enough(kind) || chunks_[j] < enough_chunks || rows_ < 2 * columns_.size())
      return no_figure::too_few;
    auto const variance = fit_->inverse_row(j)[j];
    bool const is_noise = variance * blur_.noise(j) > max_noise;
    return is_noise || fit_->inflation(j) > max_inflation ? no_figure::not_told_apart
                                                          : no_figure::has_one;
  }

  void put(std::uint32_t kind, std::vector<std::optional<sampled_figure>>& figures) const {
    for (auto const& metric : metrics_)
      if (auto const found = figure(kind, metric)) {
        auto& known = figures[metric.column];
        // Keeps the figures of launches that had the GPU to themselves, unless the fit is at least
        // twice as sure.
        if (!known || found->error < known->error / 2) known = found;
      }
  }

 private:
  template <class Take>
  void each_row(Take take) {
    sweep_samples(samples_, work_,
                  [&](std::size_t s, std::span<work_part const> parts, double busy) {
                    if (!columns_.is_used(s) || !read_right(s)) return;
                    take(parts, busy, sparse_row(columns_.row(s, parts, busy)));
                  });
  }

  /// Returns false if a value is missing.
  bool read_right(std::size_t sample) {
    for (auto const& metric : metrics_) {
      auto const amount = right_[metric.amounts] = samples_.amount(sample, metric.column);
      if (std::isnan(amount)) return false;
      if (metric.cycles) right_[*metric.cycles] = samples_.active_cycles(sample);
    }
    return true;
  }

  /// Fixes tensor metrics of kernels without tensor code and of idle time at 0, else they would get
  /// amounts of their neighbors.
  void hold_what_has_no_tensor_code() {
    for (auto const& metric : metrics_) {
      if (!samples_.metric(metric.column).of_tensor_cores) continue;
      fit_->hold_at_zero(metric.amounts, columns_.idle());
      for (std::uint32_t kind = 0; kind < without_tensor_.size(); ++kind) {
        if (!without_tensor_[kind] || !columns_.is_own(kind)) continue;
        for (std::size_t n = 0; n < columns_.columns_of(kind); ++n)
          fit_->hold_at_zero(metric.amounts, columns_.of(kind) + n);
      }
    }
  }

  void accumulate() {
    fit_.emplace(columns_.is_signed(), right_.size());
    hold_what_has_no_tensor_code();
    rows_ = 0;
    busy_ns_ = 0;
    for (auto& metric : metrics_) metric.total = 0;
    squares_.assign(right_.size(), 0);
    blur_.clear();
    each_row([&](std::span<work_part const> parts, double busy, sparse_row row) {
      ++rows_;
      busy_ns_ += busy;
      for (auto& metric : metrics_) metric.total += right_[metric.amounts];
      for (std::size_t r = 0; r < right_.size(); ++r) squares_[r] += right_[r] * right_[r];
      fit_->add(row, right_);
      for (auto const& part : parts) blur_.add(part);
    });
  }

  /// Least squares underestimates entries with noise: neighboring kernels become too similar. The
  /// missing part follows from the solution, so each round adds it for the previous solution. If
  /// only the clock noise separates two unknowns, rounds would diverge; therefore the noise is
  /// added to the matrix and once more to the right side. This keeps the limit and bounds the
  /// growth to a factor of two per round. The noise is not known well, so half of the correction
  /// counts as doubt.
  void correct_for_clocks() {
    constexpr int rounds = 3;
    correction_ = solution_;
    auto damped = *fit_;
    damped.add_to_normal(blur_.products());
    auto added =
        std::vector<std::vector<double>>(right_.size(), std::vector<double>(columns_.size()));
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t r = 0; r < right_.size(); ++r)
        for (std::size_t i = 0; i < columns_.size(); ++i) {
          auto const missing = 2 * std::inner_product(solution_[r].begin(), solution_[r].end(),
                                                      blur_.row(i).begin(), 0.0);
          damped.add_to_product(r, i, missing - std::exchange(added[r][i], missing));
        }
      solution_ = damped.solve();
    }
    for (std::size_t r = 0; r < right_.size(); ++r)
      for (std::size_t j = 0; j < columns_.size(); ++j)
        correction_[r][j] = solution_[r][j] - correction_[r][j];
  }

  /// Drops terms that are not significant for any metric, because they increase the error of the
  /// others, and fits again.
  void leave_out_noise() {
    constexpr double clearly = 4;  // standard errors
    auto const n = columns_.size();
    std::vector<double> variance(right_.size());
    for (std::size_t r = 0; r < right_.size(); ++r)
      variance[r] = std::max(0.0, squares_[r] - fit_->explained(r, solution_[r])) /
                    static_cast<double>(rows_ > n ? rows_ - n : 1);
    auto const says_something = [&](std::size_t term) {
      for (std::size_t r = 0; r < right_.size(); ++r) {
        auto const square = solution_[r][term] * solution_[r][term];
        if (square > clearly * clearly * variance[r] * fit_->inverse_row(term)[term]) return true;
      }
      return false;
    };
    if (!columns_.narrow(says_something)) return;
    accumulate();
    solution_ = fit_->solve();
  }

  /// Computes how much the finest term changes the solution, for kinds without room for more terms.
  /// This estimates the effect of the missing terms, which is mostly smaller. Products do their
  /// tensor work less evenly than anything else, so there it counts for kinds with few samples too.
  void leave_out_finest() {
    auto coarser = *fit_;
    bool const is_uneven = std::all_of(metrics_.begin(), metrics_.end(), [&](auto const& metric) {
      return samples_.metric(metric.column).of_tensor_cores;
    });
    for (std::uint32_t kind = 0; kind < work_.kinds().size(); ++kind) {
      if (!(is_uneven ? columns_.may_lack_terms(kind) : columns_.lacks_terms(kind))) continue;
      auto const last = columns_.of(kind) + columns_.columns_of(kind) - 1;
      for (std::size_t r = 0; r < right_.size(); ++r) coarser.hold_at_zero(r, last);
    }
    finest_ = coarser.solve();
    for (std::size_t r = 0; r < right_.size(); ++r)
      for (std::size_t j = 0; j < columns_.size(); ++j) {
        // without the clock correction, as in the coarser fit
        auto const with_all = solution_[r][j] - correction_[r][j];
        finest_[r][j] = with_all - finest_[r][j];
      }
  }

  /// Computes each chunk's influence on the solution: the scores of the sandwich estimator.
  void score() {
    auto const n = columns_.size();
    for (auto& metric : metrics_) {
      metric.squares.assign(n, 0);
      metric.of_cycles.assign(n, 0);
      metric.product.assign(n, 0);
    }
    chunks_.assign(n, 0);
    auto const length = std::max(least_chunk, (rows_ + max_chunks - 1) / max_chunks);
    std::vector<std::vector<double>> moments(right_.size(), std::vector<double>(n));
    std::vector<bool> touched(n);
    std::size_t in_chunk = 0;
    each_row([&](std::span<work_part const> parts, double, sparse_row row) {
      for (std::size_t r = 0; r < right_.size(); ++r) {
        auto rest = right_[r];
        for (auto const& [j, a] : row) rest -= a * solution_[r][j];
        for (auto const& [j, a] : row) moments[r][j] += a * rest;
      }
      for (auto const& part : parts)
        for (std::size_t r = 0; r < right_.size(); ++r)
          blur_.add_times(part, solution_[r], moments[r]);
      for (auto const& [j, a] : row) touched[j] = true;
      if (++in_chunk < length) return;
      end_chunk(moments, touched);
      in_chunk = 0;
    });
    if (in_chunk > 0) end_chunk(moments, touched);
  }

  void end_chunk(std::vector<std::vector<double>>& moments, std::vector<bool>& touched) {
    for (auto& metric : metrics_) {
      auto const amounts = scores(moments[metric.amounts], touched, metric.amounts);
      for (std::size_t j = 0; j < amounts.size(); ++j) metric.squares[j] += amounts[j] * amounts[j];
      if (!metric.cycles) continue;
      auto const cycles = scores(moments[*metric.cycles], touched, *metric.cycles);
      for (std::size_t j = 0; j < amounts.size(); ++j) {
        metric.of_cycles[j] += cycles[j] * cycles[j];
        metric.product[j] += amounts[j] * cycles[j];
      }
    }
    for (auto& of_right : moments) std::fill(of_right.begin(), of_right.end(), 0);
    for (std::size_t j = 0; j < touched.size(); ++j) chunks_[j] += touched[j];
    touched.assign(touched.size(), false);
  }

  std::vector<double> scores(std::vector<double> const& moments, std::vector<bool> const& touched,
                             std::size_t right_side) const {
    std::vector<double> out(moments.size());
    for (std::size_t i = 0; i < moments.size(); ++i) {
      if (!touched[i] || fit_->is_held(right_side, i)) continue;
      auto const row = fit_->inverse_row(i);
      for (std::size_t j = 0; j < out.size(); ++j) out[j] += moments[i] * row[j];
    }
    return out;
  }

  /// Factor by which squared errors exceed the scores: the fit adapts to the few samples of an
  /// unknown, and a few chunks do not show their spread well (Student's t).
  double small_numbers(std::uint32_t kind) const {
    auto const chunks = static_cast<double>(chunks_[columns_.of(kind)]);
    auto const own = static_cast<double>(columns_.samples_of(kind));
    auto const terms = static_cast<double>(columns_.columns_of(kind));
    auto const rows = static_cast<double>(rows_), all = static_cast<double>(columns_.size());
    return chunks / (chunks - 3) * own / (own - terms) * rows / (rows - all);
  }

  std::optional<sampled_figure> figure(std::uint32_t kind, fitted_metric const& metric) const {
    auto const j = columns_.of(kind);
    if (fit_->is_held(metric.amounts, j)) return std::nullopt;  // known without a fit
    auto const few = small_numbers(kind);
    auto const& of = work_.kinds()[kind];
    auto const amount = solution_[metric.amounts][j];
    auto const usual = metric.total / busy_ns_ * of.mean_ns();
    auto const doubt = std::hypot(least_doubt * usual, correction_[metric.amounts][j] / 2,
                                  finest_[metric.amounts][j]);
    auto const error = std::hypot(std::sqrt(metric.squares[j] * few), doubt);
    if (!says_something(amount, error, usual)) return std::nullopt;
    switch (samples_.metric(metric.column).how) {
      case summing::amount:
        return sampled_figure{amount, error, of.times, true, doubt};
      case summing::over_time:
        return sampled_figure{amount / of.mean_ns(), error / of.mean_ns(), of.times, true,
                              doubt / of.mean_ns()};
      default:
        return per_cycle(of, metric, j, few);
    }
  }

  std::optional<sampled_figure> per_cycle(work_kind const& of, fitted_metric const& metric,
                                          std::size_t j, double few) const {
    auto const cycles = solution_[*metric.cycles][j];
    if (!(cycles > 3 * std::sqrt(metric.of_cycles[j] * few))) return std::nullopt;
    auto const ratio = solution_[metric.amounts][j] / cycles;
    auto const squares =
        metric.squares[j] - 2 * ratio * metric.product[j] + ratio * ratio * metric.of_cycles[j];
    auto const error = std::sqrt(std::max(0.0, squares) * few) / cycles;
    auto const unsure =
        (correction_[metric.amounts][j] - ratio * correction_[*metric.cycles][j]) / cycles / 2;
    auto const finest = (finest_[metric.amounts][j] - ratio * finest_[*metric.cycles][j]) / cycles;
    auto const doubt = std::hypot(least_doubt * ratio, unsure, finest);
    return sampled_figure{ratio, std::hypot(error, doubt), of.times, true, doubt};
  }

  sample_series const& samples_;
  device_work const& work_;
  fit_columns& columns_;
  std::vector<bool> const& without_tensor_;
  clock_blur blur_;
  std::vector<fitted_metric> metrics_;
  std::vector<double> right_;  // values of the current sample
  std::optional<nonnegative_fit> fit_;
  std::vector<std::vector<double>> solution_;  // by right side
  std::vector<double> squares_;                // by right side: sum of squared values
  // indexed like `solution_`: the part from the clock correction
  std::vector<std::vector<double>> correction_;
  std::vector<std::vector<double>> finest_;  // the part from the finest terms
  std::vector<std::uint64_t> chunks_;        // by unknown: number of chunks that contain it
  std::size_t rows_ = 0;
  double busy_ns_ = 0;  // time in used samples in which any work ran
};

/// Groups metrics that have values in the same samples, because they can share one fit.
std::vector<std::vector<std::uint32_t>> alike(sample_series const& samples,
                                              std::span<std::uint32_t const> columns) {
  std::map<std::vector<bool>, std::vector<std::uint32_t>> groups;
  for (auto const c : columns) {
    std::vector<bool> there(samples.size());
    bool any = false;
    for (std::size_t s = 0; s < samples.size(); ++s) {
      there[s] = !std::isnan(samples.amount(s, c));
      any = any || there[s];
    }
    if (any) groups[std::move(there)].push_back(c);
  }
  std::vector<std::vector<std::uint32_t>> metrics;
  for (auto& [there, of_group] : groups) metrics.push_back(std::move(of_group));
  return metrics;
}

}  // namespace

std::vector<no_figure> tell_apart(sample_series const& samples, device_work const& work,
                                  std::span<std::uint32_t const> columns, figure_grid& figures,
                                  std::size_t max_unknowns,
                                  std::vector<bool> const& without_tensor) {
  auto const kinds = static_cast<std::uint32_t>(work.kinds().size());
  std::vector<no_figure> without(kinds);
  for (auto const& metrics : alike(samples, columns)) {
    fit_columns unknowns(samples, work, figures, metrics, max_unknowns);
    if (!unknowns.is_any_wanted()) continue;
    sample_fit fit(samples, work, unknowns, metrics, without_tensor);
    fit.run();
    for (std::uint32_t kind = 0; kind < kinds; ++kind) {
      if (!unknowns.is_wanted(kind)) continue;
      auto const reason = fit.judge(kind);
      without[kind] = std::max(without[kind], reason);
      if (reason == no_figure::has_one) fit.put(kind, figures[kind]);
    }
  }
  for (std::uint32_t kind = 0; kind < kinds; ++kind)
    if (has_figure(samples, figures[kind])) without[kind] = no_figure::has_one;
  return without;
}

}  // namespace gpuprof::host
