#include "analyse/sampling/shared_samples.hpp"

#include "analyse/sampling/fit_columns.hpp"
#include "analyse/sampling/nonnegative_fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace gpuprof {
namespace {

// How far ends of records are off. What tells kinds apart has to be well above what that makes of
// the rows, or the fit is of noise.
constexpr double clock_noise_ns = 100;
constexpr double most_noise = 0.05;
constexpr double most_inflation = 1e4;

// Errors come from chunks of samples in a row, between which nothing is assumed to be alike.
constexpr std::size_t least_chunk = 16, most_chunks = 256;
constexpr std::uint64_t enough_chunks = 6;

// A figure that is more error than value says something only where that is little beside what the
// GPU did on average in that time.
constexpr double most_error = 0.5, little_error = 0.1;

// Kernels are not quite what the unknowns can say of them, however many samples there are.
constexpr double least_doubt = 0.002;

/// A metric that is fitted: its amounts, and for means over active cycles those cycles.
struct fitted_metric {
  std::uint32_t column = 0;
  std::size_t amounts = 0;                          // right side
  std::optional<std::size_t> cycles;                // right side
  double total = 0;                                 // of the amounts, in all used samples
  std::vector<double> squares, of_cycles, product;  // of scores, summed over chunks, by unknown
};

/// Fits the metrics that have values in the same samples.
class sample_fit {
 public:
  sample_fit(sample_series const& samples, device_work const& work, fit_columns& columns,
             std::vector<std::uint32_t> const& metrics)
      : samples_(samples), work_(work), columns_(columns) {
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
    score();
  }

  no_figure judge(std::uint32_t kind) const {
    auto const j = columns_.of(kind);
    if (columns_.has_enough(kind) && !columns_.is_own(kind)) return no_figure::too_many;
    if (!columns_.has_enough(kind) || chunks_[j] < enough_chunks || rows_ < 2 * columns_.size())
      return no_figure::too_few;
    auto const variance = fit_->inverse_row(j)[j];
    bool const is_noise = variance * noise_[j] > most_noise;
    return is_noise || fit_->inflation(j) > most_inflation ? no_figure::not_told_apart
                                                           : no_figure::has_one;
  }

  void put(std::uint32_t kind, std::vector<std::optional<sampled_figure>>& figures) const {
    for (auto const& metric : metrics_)
      if (auto const found = figure(kind, metric)) {
        auto& known = figures[metric.column];
        // Launches that had the GPU to themselves need no model, unless their edges are unsure.
        if (!known || found->error < known->error / 2) known = found;
      }
  }

 private:
  template <class Take>
  void each_row(Take take) {
    sweep_samples(samples_, work_,
                  [&](std::size_t s, std::span<work_part const> parts, double busy) {
                    if (!columns_.is_used(s) || !read_right(s)) return;
                    take(s, parts, sparse_row(columns_.row(s, parts, busy)));
                  });
  }

  /// False where a value is missing.
  bool read_right(std::size_t sample) {
    for (auto const& metric : metrics_) {
      auto const amount = right_[metric.amounts] = samples_.amount(sample, metric.column);
      if (std::isnan(amount)) return false;
      if (metric.cycles) right_[*metric.cycles] = samples_.active_cycles(sample);
    }
    return true;
  }

  void accumulate() {
    fit_.emplace(columns_.is_signed(), right_.size());
    noise_.assign(columns_.size(), 0);
    each_row([&](std::size_t s, std::span<work_part const> parts, sparse_row row) {
      ++rows_;
      ns_ += samples_.intervals()[s].ns();
      for (auto& metric : metrics_) metric.total += right_[metric.amounts];
      fit_->add(row, right_);
      for (auto const& part : parts) {
        auto const off = clock_noise_ns / static_cast<double>(part.item->length());
        noise_[columns_.of(part.item->kind)] += part.cuts() * off * off;
      }
    });
  }

  /// What each chunk alone would change in the solution: the scores of the sandwich estimator.
  void score() {
    auto const n = columns_.size();
    for (auto& metric : metrics_) {
      metric.squares.assign(n, 0);
      metric.of_cycles.assign(n, 0);
      metric.product.assign(n, 0);
    }
    chunks_.assign(n, 0);
    auto const length = std::max(least_chunk, (rows_ + most_chunks - 1) / most_chunks);
    std::vector<std::vector<double>> moments(right_.size(), std::vector<double>(n));
    std::vector<bool> touched(n);
    std::size_t in_chunk = 0;
    each_row([&](std::size_t, std::span<work_part const>, sparse_row row) {
      for (std::size_t r = 0; r < right_.size(); ++r) {
        auto rest = right_[r];
        for (auto const& [j, a] : row) rest -= a * solution_[r][j];
        for (auto const& [j, a] : row) moments[r][j] += a * rest;
      }
      for (auto const& [j, a] : row) touched[j] = true;
      if (++in_chunk < length) return;
      end_chunk(moments, touched);
      in_chunk = 0;
    });
    if (in_chunk > 0) end_chunk(moments, touched);
  }

  void end_chunk(std::vector<std::vector<double>>& moments, std::vector<bool>& touched) {
    for (auto& metric : metrics_) {
      auto const amounts = scores(moments[metric.amounts], touched);
      for (std::size_t j = 0; j < amounts.size(); ++j) metric.squares[j] += amounts[j] * amounts[j];
      if (!metric.cycles) continue;
      auto const cycles = scores(moments[*metric.cycles], touched);
      for (std::size_t j = 0; j < amounts.size(); ++j) {
        metric.of_cycles[j] += cycles[j] * cycles[j];
        metric.product[j] += amounts[j] * cycles[j];
      }
    }
    for (auto& of_right : moments) std::fill(of_right.begin(), of_right.end(), 0);
    for (std::size_t j = 0; j < touched.size(); ++j) chunks_[j] += touched[j];
    touched.assign(touched.size(), false);
  }

  std::vector<double> scores(std::vector<double> const& moments,
                             std::vector<bool> const& touched) const {
    std::vector<double> out(moments.size());
    for (std::size_t i = 0; i < moments.size(); ++i) {
      if (!touched[i]) continue;
      auto const row = fit_->inverse_row(i);
      for (std::size_t j = 0; j < out.size(); ++j) out[j] += moments[i] * row[j];
    }
    return out;
  }

  std::optional<sampled_figure> figure(std::uint32_t kind, fitted_metric const& metric) const {
    auto const j = columns_.of(kind);
    auto const chunks = static_cast<double>(chunks_[j]), rows = static_cast<double>(rows_);
    auto const few =  // samples make errors look small
        chunks / (chunks - 1) * rows / (rows - static_cast<double>(columns_.size()));
    auto const& of = work_.kinds()[kind];
    auto const amount = solution_[metric.amounts][j];
    auto const usual = metric.total / ns_ * of.mean_ns();
    auto const doubt = least_doubt * usual;
    auto const error = std::hypot(std::sqrt(metric.squares[j] * few), doubt);
    if (error > most_error * amount && error > little_error * usual) return std::nullopt;
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
    auto const doubt = least_doubt * ratio;
    return sampled_figure{ratio, std::hypot(error, doubt), of.times, true, doubt};
  }

  sample_series const& samples_;
  device_work const& work_;
  fit_columns& columns_;
  std::vector<fitted_metric> metrics_;
  std::vector<double> right_;  // of a sample
  std::optional<nonnegative_fit> fit_;
  std::vector<std::vector<double>> solution_;  // by right side
  std::vector<double> noise_;                  // by unknown: what clocks being off adds to squares
  std::vector<std::uint64_t> chunks_;          // by unknown: those that mention it
  std::size_t rows_ = 0;
  double ns_ = 0;
};

/// Metrics that have values in the same samples, together: they share their equations.
std::vector<std::vector<std::uint32_t>> alike(sample_series const& samples) {
  std::map<std::vector<bool>, std::vector<std::uint32_t>> groups;
  for (std::uint32_t c = 0; c < samples.columns(); ++c) {
    if (!samples.adds_up(c) || samples.metric(c).runs_when_idle) continue;
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
                                  figure_grid& figures, std::size_t most_unknowns) {
  auto const kinds = static_cast<std::uint32_t>(work.kinds().size());
  std::vector<no_figure> without(kinds);
  for (auto const& metrics : alike(samples)) {
    fit_columns columns(samples, work, figures, metrics, most_unknowns);
    if (!columns.is_any_wanted()) continue;
    sample_fit fit(samples, work, columns, metrics);
    fit.run();
    for (std::uint32_t kind = 0; kind < kinds; ++kind) {
      if (!columns.is_wanted(kind)) continue;
      auto const reason = fit.judge(kind);
      without[kind] = std::max(without[kind], reason);
      if (reason == no_figure::has_one) fit.put(kind, figures[kind]);
    }
  }
  for (std::uint32_t kind = 0; kind < kinds; ++kind)
    if (has_figure(samples, figures[kind])) without[kind] = no_figure::has_one;
  return without;
}

}  // namespace gpuprof
