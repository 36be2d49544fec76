// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sampling/attribution_steps.hpp"
#include "host/analysis/sampling/sample_sweep.hpp"
#include "host/analysis/sampling/sampled_figure.hpp"

#include <algorithm>
#include <cmath>

namespace gpuprof::host {
namespace {

// Minimum number of launches if they are shorter than a sample, because each is only a small part
// of it.
constexpr std::uint64_t enough_short_launches = 4;
// Maximum difference in mean length between the seen launches and all of their kind. The difference
// also adds to the error.
constexpr double max_unlike_alone = 0.2;
// To replace a known figure, at least this share of the launches must be seen.
constexpr double usual_share = 0.25;
// Error if only parts of launches were seen: how far the rest may differ.
constexpr double uneven_doubt = 0.25;
// Error if only one launch was seen: how far others of its kind may differ.
constexpr double single_doubt = 0.1;
// Error of the idle-time amount beside launches, as a share.
constexpr double idle_doubt = 0.5;

/// Values of one launch, or of all launches in one sample. The divisor is launches, ns or active
/// cycles.
struct seen_part {
  double amount = 0, divisor = 0, idle = 0;
};

struct part_sums {
  std::uint64_t count = 0;
  double amount = 0, divisor = 0, idle = 0;
  double amount2 = 0, divisor2 = 0, product = 0;

  void add(seen_part const& of) noexcept {
    ++count;
    amount += of.amount;
    divisor += of.divisor;
    idle += of.idle;
    amount2 += of.amount * of.amount;
    divisor2 += of.divisor * of.divisor;
    product += of.amount * of.divisor;
  }
  double ratio() const noexcept { return amount / divisor; }
  /// Standard error from the scatter of the parts, enlarged for a small number of parts (Student's
  /// t).
  double chance() const noexcept {
    auto const n = static_cast<double>(count);
    if (count < 2) return single_doubt * std::abs(ratio());
    auto const r = ratio();
    auto const squares = std::max(0.0, amount2 - 2 * r * product + r * r * divisor2);
    auto const few = count > 3 ? (n - 1) / (n - 3) : 4;
    return std::sqrt(squares * few * n / (n - 1)) / divisor;
  }
};

struct kind_sums {
  work_item const* last = nullptr;  // last launch of which a part was seen
  std::uint64_t launches = 0;
  double ns = 0;  // sum of their lengths
  // sum of the seen shares; part of it in samples that cut a launch
  double shares = 0, cut_shares = 0;
  std::vector<seen_part> open;  // the last launch, by column
  std::vector<part_sums> sums;  // by column
  double unlike(double mean_ns) const noexcept {
    return std::abs(ns / static_cast<double>(launches) / mean_ns - 1);
  }
};

class lone_samples {
 public:
  lone_samples(sample_series const& samples, device_work const& work,
               std::span<std::uint32_t const> columns)
      : samples_(samples), work_(work), columns_(columns), kinds_(work.kinds().size()) {
    std::uint64_t latest = 0;
    for (auto const& item : work.items()) ends_.push_back(latest = std::max(latest, item.end));
  }

  void run() {
    learn_rates();
    sweep_samples(samples_, work_,
                  [&](std::size_t s, std::span<work_part const> parts, double busy) {
                    if (is_lone(parts) && is_quiet(samples_.intervals()[s], parts))
                      take(s, parts, busy);
                  });
    for (auto& of : kinds_) close(of);
  }

  void put(figure_grid& figures) const {
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
      auto const& of = kinds_[kind];
      if (of.launches == 0 || !is_enough(kind) ||
          of.unlike(work_.kinds()[kind].mean_ns()) > max_unlike_alone)
        continue;
      for (std::size_t i = 0; i < columns_.size(); ++i)
        if (auto const found = figure(kind, i)) {
          auto& known = figures[kind][columns_[i]];
          if (!known || (is_usual(kind) && found->error < known->error / 2)) known = found;
        }
    }
  }

 private:
  /// Measures the GPU's amount per ns while nothing runs, and on average while something runs.
  void learn_rates() {
    idle_rates_.assign(columns_.size(), 0);
    busy_rates_.assign(columns_.size(), 0);
    std::vector<double> idle_ns(columns_.size()), busy_ns(columns_.size());
    sweep_samples(samples_, work_,
                  [&](std::size_t s, std::span<work_part const> parts, double busy) {
                    for (std::size_t i = 0; i < columns_.size(); ++i) {
                      auto const amount = samples_.amount(s, columns_[i]);
                      if (std::isnan(amount)) continue;
                      (parts.empty() ? idle_rates_ : busy_rates_)[i] += amount;
                      if (parts.empty()) idle_ns[i] += samples_.intervals()[s].ns();
                      busy_ns[i] += busy;
                    }
                  });
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      idle_rates_[i] = idle_ns[i] > 0 ? idle_rates_[i] / idle_ns[i] : 0;
      busy_rates_[i] = busy_ns[i] > 0 ? busy_rates_[i] / busy_ns[i] : 0;
    }
  }

  bool is_lone(std::span<work_part const> parts) const {
    if (parts.empty()) return false;
    auto const kind = parts.front().item->kind;
    return work_.kinds()[kind].is == work_kind::what::launch &&
           std::all_of(parts.begin(), parts.end(), [&](work_part const& part) {
             return part.item->kind == kind && part.item->is_alone;
           });
  }

  /// True if no other work is so close to the sample that clock errors could move it inside.
  bool is_quiet(sample_interval const& interval, std::span<work_part const> parts) const {
    auto const items = work_.items();
    auto const& first = *parts.front().item;
    auto const& last = *parts.back().item;
    if (parts.front().is_begun) {
      if (interval.start - first.start < clock_slack_ns) return false;
    } else if (auto const at = static_cast<std::size_t>(&first - items.data());
               at > 0 && ends_[at - 1] + clock_slack_ns > interval.start) {
      return false;
    }
    if (parts.back().is_left) return last.end - interval.end >= clock_slack_ns;
    auto const next = static_cast<std::size_t>(&last - items.data()) + 1;
    return next == items.size() || items[next].start >= interval.end + clock_slack_ns;
  }

  void take(std::size_t s, std::span<work_part const> parts, double busy) {
    auto& of = kinds_[parts.front().item->kind];
    of.sums.resize(columns_.size());
    // Samples of one launch are alike, so they form one part.
    if (parts.front().item != of.last) close(of);
    double shares = 0, ns = 0;
    for (auto const& part : parts) {
      shares += part.share();
      ns += part.ns;
      if (part.cuts() > 0) of.cut_shares += part.share();
      if (part.item == of.last) continue;
      ++of.launches;
      of.ns += part.length();
    }
    of.shares += shares;
    of.last = parts.back().item;
    of.open.resize(columns_.size());
    auto const idle_ns = std::max(0.0, samples_.intervals()[s].ns() - busy);
    auto const cycles = samples_.active_cycles(s);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      auto const how = samples_.metric(columns_[i]).how;
      auto const amount = samples_.amount(s, columns_[i]);
      auto const divisor = how == summing::over_time            ? ns
                           : how == summing::over_active_cycles ? cycles
                                                                : shares;
      if (std::isnan(amount) || std::isnan(divisor)) continue;
      auto const idle = idle_rates_[i] * idle_ns;
      of.open[i].amount += amount - idle;
      of.open[i].divisor += divisor;
      of.open[i].idle += idle;
    }
  }

  void close(kind_sums& of) const {
    for (std::size_t i = 0; i < of.open.size(); ++i)
      if (of.open[i].divisor > 0) of.sums[i].add(of.open[i]);
    of.open.clear();
  }

  /// True if enough launches were seen to replace a known figure. A few may be from another phase
  /// of the program, such as one that tries kernels repeatedly on cached data.
  bool is_usual(std::size_t kind) const {
    return static_cast<double>(kinds_[kind].launches) >=
           usual_share * static_cast<double>(work_.kinds()[kind].times);
  }

  bool is_enough(std::size_t kind) const {
    return kinds_[kind].launches >= enough_short_launches ||
           work_.kinds()[kind].mean_ns() >= samples_.typical_interval();
  }

  std::optional<sampled_figure> figure(std::size_t kind, std::size_t i) const {
    auto const& of = kinds_[kind];
    auto const& sums = of.sums[i];
    if (!(sums.divisor > 0)) return std::nullopt;
    auto const& all = work_.kinds()[kind];
    auto const mean = std::max(0.0, sums.ratio());
    auto const each = sums.divisor / of.shares;  // divisor per launch
    auto const usual = busy_rates_[i] * all.mean_ns() / each;
    auto const not_seen = std::max(0.0, 1 - of.shares / static_cast<double>(of.launches));
    auto const uneven = uneven_doubt * not_seen * of.cut_shares / of.shares;
    auto const unlike = of.unlike(all.mean_ns());
    auto const doubt =
        std::hypot(std::hypot(uneven, unlike) * mean, idle_doubt * sums.idle / sums.divisor,
                   least_doubt * std::max(mean, usual));
    auto const error = std::hypot(sums.chance(), doubt);
    if (!says_something(mean, error, usual)) return std::nullopt;
    return sampled_figure{mean, error, of.launches, false, doubt};
  }

  sample_series const& samples_;
  device_work const& work_;
  std::span<std::uint32_t const> columns_;
  std::vector<std::uint64_t> ends_;              // latest end up to this item
  std::vector<double> idle_rates_, busy_rates_;  // by column
  std::vector<kind_sums> kinds_;
};

}  // namespace

void attribute_lone_samples(sample_series const& samples, device_work const& work,
                            std::span<std::uint32_t const> columns, figure_grid& figures) {
  lone_samples lone(samples, work, columns);
  lone.run();
  lone.put(figures);
}

}  // namespace gpuprof::host
