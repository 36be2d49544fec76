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
/// it, which cancels slow changes of the program's pace. Used by the worker's thread.
class lost_time {
 public:
  static constexpr std::uint64_t slice_ns = 100'000'000;
  static constexpr std::size_t slices_beside = 10, min_slices = 4;

  struct estimate {
    double lost_ns = 0;   // may be negative by chance
    double error_ns = 0;  // standard error
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
    before_count_ = 0;
    inside_ = after_ = {};
  }
  /// Returns nothing if no stretch was compared. Stretches that could not be compared, such as the
  /// first, count as the others.
  std::optional<estimate> so_far() const noexcept {
    if (compared_ns_ <= 0) return std::nullopt;
    auto const scale = std::max(1.0, taken_ns_ / compared_ns_);
    return estimate{scale * lost_ns_, scale * std::sqrt(variance_)};
  }

 private:
  struct slice {
    double ns = 0, launches = 0;
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
      taken_ns_ += ended.ns;
      return;
    }
    if (was_taken_) {
      after_.add(ended.ns, ended.launches);
      if (after_.slices() == slices_beside) compare();
    }
    if (before_count_ == slices_beside) {
      std::move(before_.begin() + 1, before_.end(), before_.begin());
      --before_count_;
    }
    before_[before_count_++] = ended;
  }
  void change(bool taken) noexcept {
    if (taken) {
      if (was_taken_) compare();
      beside_ = {};
      for (std::size_t i = 0; i < before_count_; ++i)
        beside_.add(before_[i].ns, before_[i].launches);
      inside_ = after_ = {};
    } else {
      was_taken_ = true;
      before_count_ = 0;
    }
    taken_ = taken;
  }
  /// The latest stretch with what was beside it.
  void compare() noexcept {
    was_taken_ = false;
    auto const has_both = beside_.slices() >= min_slices && after_.slices() >= min_slices;
    auto const rate = (beside_.mean() + after_.mean()) / 2;
    if (!has_both || inside_.slices() < 2 || rate <= 0) return;
    lost_ns_ += inside_.ns() - inside_.launches() / rate;
    auto const of_rates = inside_.variance() + (beside_.variance() + after_.variance()) / 4;
    variance_ += of_rates * (inside_.ns() / rate) * (inside_.ns() / rate);
    compared_ns_ += inside_.ns();
  }

  bool taken_ = false;      // now
  bool was_taken_ = false;  // a stretch has ended and is not compared yet
  std::uint64_t begun_ns_ = 0, begun_launches_ = 0, last_ns_ = 0, last_launches_ = 0;
  std::array<slice, slices_beside> before_;  // the latest, of which there are before_count_
  std::size_t before_count_ = 0;
  launch_rate beside_, inside_, after_;
  double lost_ns_ = 0, variance_ = 0, compared_ns_ = 0, taken_ns_ = 0;
};

}  // namespace gpuprof::guest
