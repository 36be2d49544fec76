// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sampling/attribution_steps.hpp"
#include "host/analysis/sampling/nonnegative_fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace gpuprof::host {
namespace {

// A longer row of launches says little about each of them.
constexpr std::size_t max_launches = 8;
constexpr std::size_t max_kinds = 900;
// The least error of a sum, as a share, if all sums are equal.
constexpr double least_scatter = 0.0005;
// Scatter of a sum if none was seen twice, as a share.
constexpr double usual_scatter = 0.1;
// Maximum difference in mean length between the seen launches and all of their kind.
constexpr double max_unlike_whole = 0.2;

// A stretch may also end this share of an interval away from the end of a launch that is longer.
constexpr double near_share = 0.1;

/// How many launches of each kind are in a stretch.
using composition = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

struct value_sums {
  double count = 0, sum = 0, squares = 0;
  void add(double value) noexcept {
    ++count;
    sum += value;
    squares += value * value;
  }
  double mean() const noexcept { return sum / count; }
  double variance() const noexcept {
    return count < 2 ? 0 : std::max(0.0, squares - sum * mean()) / (count - 1);
  }
  double scatter() const noexcept { return mean() > 0 ? std::sqrt(variance()) / mean() : 0; }
};

/// An amount and how far it may be off. Doubts are alike in all stretches and do not average out.
struct doubtful_amount {
  double amount = 0, doubt = 0;
};

/// The stretches of one composition.
struct alike_stretches {
  std::vector<value_sums> lengths;  // of the launches of each kind, in the order of the composition
  std::vector<std::vector<doubtful_amount>> columns;
};

/// The mean amount of the stretches of one composition.
struct known_sum {
  composition const* of = nullptr;
  double amount = 0, error = 0;
  std::uint64_t count = 0;
};

/// The moment between two samples, if launches end before it and start after it. For up to this
/// long a launch from before may still run, or one from after may already run.
struct cut {
  std::size_t sample = 0;  // the one before
  std::size_t next = 0;    // the first launch after it
  double late_ns = 0, early_ns = 0;
  double before_ns = 0, after_ns = 0;  // of the launches beside it, in the samples beside it
  bool is_clean() const noexcept { return late_ns == 0 && early_ns == 0; }
};

class whole_launches {
 public:
  whole_launches(sample_series const& samples, device_work const& work,
                 std::span<std::uint32_t const> columns, std::span<std::vector<float> const> doubts)
      : samples_(samples),
        work_(work),
        columns_(columns),
        doubts_(doubts),
        lengths_(work.kinds().size()) {
    for (auto const& item : work.items())
      lengths_[item.kind].add(static_cast<double>(item.length()));
  }

  void find() {
    std::optional<cut> clean, any;
    for (std::size_t s = 0; s + 1 < samples_.size(); ++s) {
      if (!samples_.are_joined(s, s + 1)) {
        clean = any = std::nullopt;
        continue;
      }
      auto const here = cut_after(s);
      if (!here) continue;
      if (any && !(any->is_clean() && here->is_clean())) take(*any, *here);
      if (clean && here->is_clean()) take(*clean, *here);
      any = here;
      if (here->is_clean()) clean = here;
    }
  }

  void put(std::size_t i, figure_grid& figures) const {
    auto const column = columns_[i];
    auto const sums = known_sums(i);
    auto const scale = refuted_by(sums, column, figures);
    for (auto& of_kind : figures)
      if (auto& figure = of_kind[column]; figure && figure->is_fitted) {
        figure->error *= scale;
        figure->doubt *= scale;
      }
    combine(sums, column, figures);
  }

 private:
  /// Call with ascending samples. The clocks of records and samples differ a little.
  std::optional<cut> cut_after(std::size_t sample) {
    auto const items = work_.items();
    auto const moment = samples_.intervals()[sample].end;
    while (next_ < items.size() && items[next_].start / 2 + items[next_].end / 2 <= moment) {
      if (latest_ == nullptr || items[next_].end > latest_->end) latest_ = &items[next_];
      ++next_;
    }
    if (next_ + 1 < items.size() && items[next_ + 1].start < moment) return std::nullopt;
    cut here{sample, next_};
    auto const over = [](std::uint64_t later, std::uint64_t earlier) {
      return later > earlier ? static_cast<double>(later - earlier) : 0;
    };
    auto const is_near = [this](double ns, work_item const& item) {
      return ns <= near_share * samples_.typical_interval() &&
             static_cast<double>(item.length()) >= samples_.typical_interval();
    };
    if (latest_ != nullptr) {
      here.late_ns = over(latest_->end + clock_slack_ns, moment);
      here.before_ns = over(moment, std::max(latest_->start, samples_.intervals()[sample].start));
      if (here.late_ns > 0 && !is_near(here.late_ns, *latest_)) return std::nullopt;
    }
    if (next_ < items.size()) {
      auto const& after = items[next_];
      here.early_ns = over(moment + clock_slack_ns, after.start);
      here.after_ns = over(std::min(after.end, samples_.intervals()[sample + 1].end), moment);
      if (here.early_ns > 0 && !is_near(here.early_ns, after)) return std::nullopt;
    }
    return here;
  }

  /// The amount that launches from before the cut count after it, less the opposite. It is between
  /// nothing and what they counted in the sample on their own side, per ns.
  doubtful_amount beyond(cut const& at, std::uint32_t column) const {
    auto const before = std::max(0.0, samples_.amount(at.sample, column));
    auto const after = std::max(0.0, samples_.amount(at.sample + 1, column));
    auto const late = at.late_ns > 0 ? std::min(after, before * at.late_ns / at.before_ns) : 0;
    auto const early = at.early_ns > 0 ? std::min(before, after * at.early_ns / at.after_ns) : 0;
    return {(late - early) / 2, (late + early) / 2};
  }

  void take(cut const& from, cut const& to) {
    auto const launches = to.next - from.next;
    if (launches == 0 || launches > max_launches) return;
    auto const items = work_.items().subspan(from.next, launches);
    std::map<std::uint32_t, std::uint32_t> counts;
    for (auto const& item : items) ++counts[item.kind];
    auto& found = found_[composition(counts.begin(), counts.end())];
    found.lengths.resize(counts.size());
    found.columns.resize(columns_.size());
    for (auto const& item : items) {
      auto const place = std::distance(counts.begin(), counts.find(item.kind));
      found.lengths[static_cast<std::size_t>(place)].add(static_cast<double>(item.length()));
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      auto const at_start = beyond(from, columns_[i]), at_end = beyond(to, columns_[i]);
      doubtful_amount all{at_end.amount - at_start.amount, at_end.doubt + at_start.doubt};
      for (auto s = from.sample + 1; s <= to.sample; ++s) {
        all.amount += samples_.amount(s, columns_[i]);
        if (!doubts_.empty()) all.doubt += doubts_[i][s];
      }
      if (!std::isnan(all.amount)) found.columns[i].push_back(all);
    }
  }

  /// Mean relative scatter of the amounts of one composition.
  double pooled_scatter(std::size_t i) const {
    double squares = 0, freedom = 0;
    for (auto const& [of, stretches] : found_) {
      value_sums amount;
      for (auto const& one : stretches.columns[i]) amount.add(one.amount);
      if (amount.count < 2 || !(amount.mean() > 0)) continue;
      squares += (amount.count - 1) * amount.scatter() * amount.scatter();
      freedom += amount.count - 1;
    }
    return freedom > 0 ? std::sqrt(squares / freedom) : usual_scatter;
  }

  /// Returns how far the sum may differ from that of average launches of these kinds, as a share.
  ///
  /// Launches of other length may count differently. If a stretch has launches of all lengths of
  /// the kind, the scatter of the amounts says how much; else the amount may be in proportion.
  double unlike(composition const& of, alike_stretches const& stretches,
                value_sums const& amount) const {
    double all_ns = 0, unlike_ns = 0;
    for (std::size_t k = 0; k < of.size(); ++k) {
      auto const& seen = stretches.lengths[k];
      auto const& all = lengths_[of[k].first];
      bool const has_all_lengths = amount.count > 3 && 2 * seen.scatter() >= all.scatter();
      auto const follows = has_all_lengths && seen.scatter() > 0
                               ? std::min(1.0, amount.scatter() / seen.scatter())
                               : 1;
      all_ns += of[k].second * all.mean();
      unlike_ns += of[k].second * std::abs(seen.mean() - all.mean()) * follows;
    }
    return unlike_ns / all_ns;
  }

  std::vector<known_sum> known_sums(std::size_t i) const {
    std::vector<known_sum> sums;
    auto const pooled = pooled_scatter(i);
    for (auto const& [of, stretches] : found_)
      if (auto sum = surest_sum(of, stretches, stretches.columns[i], pooled); sum.error > 0)
        sums.push_back(sum);
    return sums;
  }

  /// Returns the mean of those stretches that make it surest. Some have less doubt than others.
  known_sum surest_sum(composition const& of, alike_stretches const& stretches,
                       std::vector<doubtful_amount> amounts, double pooled) const {
    std::sort(amounts.begin(), amounts.end(),
              [](auto const& a, auto const& b) { return a.doubt < b.doubt; });
    known_sum surest;
    value_sums amount;
    double doubt = 0;
    std::size_t next = 1;
    for (std::size_t used = 1; used <= amounts.size(); ++used) {
      amount.add(amounts[used - 1].amount);
      doubt += amounts[used - 1].doubt;
      if (used < next && used < amounts.size()) continue;
      next *= 2;
      if (!(amount.mean() > 0)) continue;
      auto const n = amount.count;
      auto const scatter = n > 3 ? amount.scatter() * std::sqrt((n - 1) / (n - 3))
                                 : std::max(amount.scatter(), pooled);
      auto const bias = unlike(of, stretches, amount);
      auto const share = std::hypot(std::max(scatter, least_scatter) / std::sqrt(n), bias);
      auto const error = std::hypot(share * amount.mean(), doubt / n);
      if (bias > max_unlike_whole || (surest.error > 0 && error >= surest.error)) continue;
      surest = {&of, amount.mean(), error, static_cast<std::uint64_t>(n)};
    }
    return surest;
  }

  /// Returns by how much errors of fitted figures are too small, according to the kinds whose
  /// amounts are also known without a fit; at least 1.
  static double refuted_by(std::vector<known_sum> const& sums, std::uint32_t column,
                           figure_grid const& figures) {
    double squares = 0, count = 0;
    for (auto const& sum : sums) {
      if (sum.of->size() != 1) continue;
      auto const& [kind, launches] = sum.of->front();
      auto const& figure = figures[kind][column];
      if (!figure || !figure->is_fitted) continue;
      auto const error = std::hypot(launches * figure->error, sum.error);
      auto const z = (sum.amount - launches * figure->mean) / error;
      squares += z * z;
      ++count;
    }
    return count > 0 ? std::max(1.0, std::sqrt(squares / count)) : 1;
  }

  using kind_index = std::map<std::uint32_t, std::uint32_t>;  // unknown, by kind

  /// Weighs the sums and the known figures by their errors.
  static nonnegative_fit fit_of(std::vector<known_sum> const& sums, kind_index const& unknowns,
                                std::uint32_t column, figure_grid const& figures) {
    nonnegative_fit fit(std::vector<bool>(unknowns.size()), 1);
    std::vector<std::pair<std::uint32_t, double>> row;
    for (auto const& sum : sums) {
      row.clear();
      for (auto const& [kind, count] : *sum.of)
        row.emplace_back(unknowns.at(kind), count / sum.error);
      double const right = sum.amount / sum.error;
      fit.add(row, {&right, 1});
    }
    for (auto const& [kind, unknown] : unknowns)
      if (auto const& figure = figures[kind][column]; figure && figure->error > 0) {
        row.assign(1, {unknown, 1 / figure->error});
        double const right = figure->mean / figure->error;
        fit.add(row, {&right, 1});
      }
    return fit;
  }

  /// Increases the errors of sums that the solution contradicts: kinds may have launches of several
  /// problems of similar length.
  static void admit_contradictions(std::vector<known_sum>& sums, kind_index const& unknowns,
                                   std::vector<double> const& solution) {
    constexpr double clearly = 3;  // errors
    for (auto& sum : sums) {
      auto rest = sum.amount;
      for (auto const& [kind, count] : *sum.of) rest -= count * solution[unknowns.at(kind)];
      if (std::abs(rest) > clearly * sum.error) sum.error = std::hypot(sum.error, rest);
    }
  }

  /// Combines the sums with the known figures.
  static void combine(std::vector<known_sum> sums, std::uint32_t column, figure_grid& figures) {
    constexpr int rounds = 3;
    kind_index unknowns;
    std::map<std::uint32_t, std::uint64_t> launches;  // by kind
    for (auto const& sum : sums)
      for (auto const& [kind, count] : *sum.of) {
        unknowns.try_emplace(kind, static_cast<std::uint32_t>(unknowns.size()));
        launches[kind] += count * sum.count;
      }
    if (unknowns.empty() || unknowns.size() > max_kinds) return;
    auto fit = fit_of(sums, unknowns, column, figures);
    auto solution = fit.solve().front();
    for (int round = 0; round < rounds; ++round) {
      admit_contradictions(sums, unknowns, solution);
      fit = fit_of(sums, unknowns, column, figures);
      solution = fit.solve().front();
    }
    for (auto const& [kind, unknown] : unknowns) {
      auto& figure = figures[kind][column];
      auto const mean = solution[unknown];
      auto const error = std::sqrt(fit.inverse_row(unknown)[unknown]);
      auto const least = least_doubt * mean;
      if (!says_something(mean, error, 0)) continue;
      auto const used = std::max(launches[kind], figure ? figure->launches : 0);
      bool const is_fitted = figure && figure->is_fitted && error > figure->error / 2;
      figure = sampled_figure{mean, std::hypot(error, least), used, is_fitted,
                              is_fitted ? std::hypot(error, least) : least};
    }
  }

  sample_series const& samples_;
  device_work const& work_;
  std::span<std::uint32_t const> columns_;
  std::span<std::vector<float> const> doubts_;
  std::vector<value_sums> lengths_;  // of all launches, by kind
  std::map<composition, alike_stretches> found_;
  std::size_t next_ = 0;               // first item whose middle is after the last asked moment
  work_item const* latest_ = nullptr;  // the one before it that ends last
};

}  // namespace

void attribute_whole_launches(sample_series const& samples, device_work const& work,
                              std::span<std::uint32_t const> columns,
                              std::span<std::vector<float> const> doubts, figure_grid& figures) {
  whole_launches whole(samples, work, columns, doubts);
  whole.find();
  for (std::size_t i = 0; i < columns.size(); ++i) whole.put(i, figures);
}

}  // namespace gpuprof::host
