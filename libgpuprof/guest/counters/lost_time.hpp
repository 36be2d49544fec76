// SPDX-License-Identifier: Apache-2.0
// Measures how much time the program lost while counters were taken: how many launches came then,
// and before and after.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace gpuprof::guest {

/// Launches in some stretch of time, and how much their rate varies between slices of it.
class launch_rate {
 public:
  void add(double ns, double launches) noexcept {
    ++slices_;
    ns_ += ns;
    launches_ += launches;
    squares_ += ns > 0 ? launches * launches / ns : 0;
  }
  double ns() const noexcept { return ns_; }
  double launches() const noexcept { return launches_; }
  std::size_t slices() const noexcept { return slices_; }
  double mean() const noexcept { return ns_ > 0 ? launches_ / ns_ : 0; }
  /// Variance of mean().
  double variance() const noexcept {
    if (slices_ < 2) return 0;
    auto const about_mean = std::max(0.0, squares_ - launches_ * mean());
    return about_mean / ns_ / static_cast<double>(slices_ - 1);
  }

 private:
  std::size_t slices_ = 0;
  double ns_ = 0, launches_ = 0, squares_ = 0;
};

/// Compares each stretch in which counters were taken with the second before and the second after
/// it, which cancels slow changes of the program's pace. If there is no second before, or the
/// program did something else then, the last second of the stretch is compared with that after it.
/// How much the pace changes counts as error. A stretch that lasts until the end of the run is not
/// compared. Used by the worker's thread.
class lost_time {
 public:
  static constexpr std::uint64_t slice_ns = 100'000'000;
  static constexpr std::size_t slices_beside = 10, min_slices = 4;
  static constexpr double other_work = 2;  // rates that differ by more are not of the same work

  struct estimate {
    double lost_ns = 0;   // may be negative by chance
    double error_ns = 0;  // standard error
    bool has_both_sides = true;
  };

  /// `taken`: counters have been taken since the last call. `launches`: all so far.
  void note(std::uint64_t now_ns, std::uint64_t launches, bool taken) noexcept {
    if (begun_ns_ == 0) return begin(now_ns, launches);
    if (taken != taken_) {
      end_slice(last_ns_, last_launches_);
      change(taken);
    }
    if (now_ns - begun_ns_ >= slice_ns) end_slice(now_ns, launches);
    last_ns_ = now_ns;
    last_launches_ = launches;
  }
  /// Begins anew: nothing is known of the time until now.
  void interrupt() noexcept {
    begun_ns_ = 0;
    taken_ = was_taken_ = false;
    before_.clear();
    inside_ = after_ = {};
    last_inside_.clear();
    last_after_.clear();
  }
  /// Returns nothing if no stretch was compared. Stretches that could not be compared count as the
  /// others.
  std::optional<estimate> so_far() const noexcept {
    auto all = *this;
    if (all.was_taken_) all.compare();  // with the part of the second after it that is over
    if (auto const found = all.both_sides_.scaled_to(taken_ns_)) return found;
    auto found = all.one_side_.scaled_to(taken_ns_);
    if (found) found->has_both_sides = false;
    return found;
  }

 private:
  struct slice {
    double ns = 0, launches = 0;
  };
  /// The latest slices, a second at most.
  class recent_slices {
   public:
    void add(slice const& one) noexcept {
      if (count_ == slices_beside) {
        std::move(slices_.begin() + 1, slices_.end(), slices_.begin());
        --count_;
      }
      slices_[count_++] = one;
    }
    void clear() noexcept { count_ = 0; }
    slice take_last() noexcept { return slices_[--count_]; }
    std::size_t count() const noexcept { return count_; }
    launch_rate rate() const noexcept { return rate_of(0, count_); }
    /// How much faster the second half was than the first.
    double change() const noexcept {
      return rate_of(count_ / 2, count_).mean() - rate_of(0, count_ / 2).mean();
    }

   private:
    launch_rate rate_of(std::size_t from, std::size_t to) const noexcept {
      launch_rate rate;
      for (auto i = from; i < to; ++i) rate.add(slices_[i].ns, slices_[i].launches);
      return rate;
    }
    std::array<slice, slices_beside> slices_;
    std::size_t count_ = 0;
  };
  struct comparison {
    double lost_ns = 0, variance = 0, compared_ns = 0;

    void add(comparison const& more) noexcept {
      lost_ns += more.lost_ns;
      variance += more.variance;
      compared_ns += more.compared_ns;
    }
    std::optional<estimate> scaled_to(double taken_ns) const noexcept {
      if (compared_ns <= 0) return std::nullopt;
      auto const scale = std::max(1.0, taken_ns / compared_ns);
      return estimate{scale * lost_ns, scale * std::sqrt(variance)};
    }
  };
  void begin(std::uint64_t now_ns, std::uint64_t launches) noexcept {
    begun_ns_ = last_ns_ = now_ns;
    begun_launches_ = last_launches_ = launches;
  }
  void end_slice(std::uint64_t now_ns, std::uint64_t launches) noexcept {
    slice const ended{static_cast<double>(now_ns - begun_ns_),
                      static_cast<double>(launches - begun_launches_)};
    begun_ns_ = now_ns;
    begun_launches_ = launches;
    if (ended.ns <= 0) return;
    if (taken_) {
      inside_.add(ended.ns, ended.launches);
      last_inside_.add(ended);
      taken_ns_ += ended.ns;
      return;
    }
    if (was_taken_) {
      after_.add(ended.ns, ended.launches);
      last_after_.add(ended);
      if (after_.slices() == slices_beside) compare();
    }
    before_.add(ended);
  }
  void change(bool taken) noexcept {
    if (taken) {
      if (was_taken_) compare();
      beside_ = before_.rate();
      inside_ = after_ = {};
      last_inside_.clear();
      last_after_.clear();
    } else {
      was_taken_ = true;
      before_.clear();
    }
    taken_ = taken;
  }
  /// Compares the latest stretch with what was beside it. If the program did something else before,
  /// as while it started, only what came after says anything.
  void compare() noexcept {
    was_taken_ = false;
    if (after_.slices() < min_slices || inside_.slices() < 2) return;
    auto const before = beside_.mean(), after = after_.mean();
    auto const is_alike = std::max(before, after) < other_work * std::min(before, after);
    if (beside_.slices() >= min_slices && is_alike)
      both_sides_.add(with_both_sides());
    else
      one_side_.add(with_after());
  }
  comparison with_both_sides() const noexcept {
    auto const rate = (beside_.mean() + after_.mean()) / 2;
    // The program may have changed its pace at any moment in between.
    auto const apart = (beside_.mean() - after_.mean()) / 2;
    auto const of_rates =
        inside_.variance() + (beside_.variance() + after_.variance()) / 4 + apart * apart;
    auto const scale = inside_.ns() / rate;
    return {inside_.ns() - inside_.launches() / rate, of_rates * scale * scale, inside_.ns()};
  }
  /// Counters are released in the last slice of a stretch: it tells nothing about the pace before.
  /// The result has no compared time if there is too little to compare with.
  comparison with_after() noexcept {
    if (last_inside_.count() <= min_slices) return {};
    auto const release = last_inside_.take_last();
    auto const inside = last_inside_.rate(), after = last_after_.rate();
    auto const rate = after.mean();
    if (rate <= 0) return {};
    auto const drift = std::hypot(last_inside_.change(), last_after_.change());
    auto const of_rates = inside.variance() + after.variance() + drift * drift;
    auto const lost_ns = (inside_.ns() - release.ns) * (1 - inside.mean() / rate) + release.ns -
                         release.launches / rate;
    auto const scale = inside_.ns() / rate;
    return {lost_ns, of_rates * scale * scale, inside_.ns()};
  }

  bool taken_ = false;      // now
  bool was_taken_ = false;  // a stretch has ended and is not compared yet
  std::uint64_t begun_ns_ = 0, begun_launches_ = 0, last_ns_ = 0, last_launches_ = 0;
  recent_slices before_, last_inside_, last_after_;
  launch_rate beside_, inside_, after_;
  comparison both_sides_, one_side_;
  double taken_ns_ = 0;
};

}  // namespace gpuprof::guest
