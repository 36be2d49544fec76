// SPDX-License-Identifier: Apache-2.0
// Limits what reading counters may cost the program, and counts what it has cost.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>

namespace gpuprof::guest {

// Decides when a process reads launches and samples, as one of several ranks of a job.

/// The place of this process in a job. Processes of a job wait for each other: a delay of one
/// delays all.
struct job_place {
  std::uint32_t rank = 0, ranks = 1;
};

/// Pure. Ranks do not communicate: they use the time of day, which agrees between the machines of a
/// job to some milliseconds. One rank at a time reads launches, so that only one delays a step. All
/// ranks sample at the same moments, so that the costs do not add up.
class job_turns {
 public:
  static constexpr std::uint64_t turn_ns = 1'000'000'000;
  /// A rank does not begin later in its turn, because setting up takes a quarter of it.
  static constexpr std::uint64_t begin_within_ns = turn_ns / 2;
  /// Bursts that begin within this time count as begun at the same moment.
  static constexpr std::uint64_t moment_ns = 300'000'000;

  /// Bursts begin every `burst_every_ns`. It must be the same in all ranks, and at least the time
  /// in which the budget for one burst is earned.
  constexpr job_turns(job_place place, std::uint64_t burst_every_ns) noexcept
      : place_(place), burst_every_ns_(burst_every_ns < moment_ns ? moment_ns : burst_every_ns) {}

  /// Nanoseconds since 1970, here and below.
  constexpr bool is_our_turn(std::uint64_t now_ns) const noexcept {
    return place_.ranks <= 1 || rank_at(now_ns) == place_.rank;
  }
  constexpr bool may_begin_to_read(std::uint64_t now_ns) const noexcept {
    return place_.ranks <= 1 || (is_our_turn(now_ns) && now_ns % turn_ns < begin_within_ns);
  }
  constexpr bool may_begin_burst(std::uint64_t now_ns) const noexcept {
    return place_.ranks <= 1 || now_ns % burst_every_ns_ < moment_ns;
  }

 private:
  /// Rank 0 has every second turn, because only rank 0 may spend in advance, see sampling_budget.
  constexpr std::uint64_t rank_at(std::uint64_t now_ns) const noexcept {
    auto const turn = now_ns / turn_ns;
    if (turn % 2 == 0) return 0;
    return 1 + turn / 2 % (place_.ranks - 1);
  }

  job_place place_;
  std::uint64_t burst_every_ns_;
};

/// Any thread. Costs are counted as they arise. Reading costs the time for which calls waited at
/// the gate, also while the GPU finished its queue. Sampling costs a share of the GPU's work from
/// its setup until its release. Each of the two may use what the other leaves, and sampling may
/// always use half. All accesses are relaxed, because one launch more or less does not matter.
///
/// Ranks of a job wait for each other, so the share is for the whole job: half for sampling, which
/// all ranks do at the same moments, and a part of the other half for each rank. Only rank 0 may
/// spend the one-time amount.
class sampling_budget {
 public:
  /// usual_once_ns may be spent once in a process, beyond the share, unless the user sets another
  /// amount: most of it is for setting up the reading of launches. It becomes available when
  /// pays_when_earned_ns has been earned, at five times the rate of the share, so that a short run
  /// does not pay for the setup of a long one.
  /// With once_at_any_time it is available from the start. sampling_once_ns may be spent on
  /// sampling in advance, because its price is an upper bound.
  static constexpr std::uint64_t usual_once_ns = 250'000'000, sampling_once_ns = 100'000'000;
  static constexpr std::uint64_t faster_once = 5;
  /// Reading launches begins when so much has been earned, after 20 s of 1 %: setting it up stops
  /// the program for 0.2 to 0.6 s. Not with once_at_any_time.
  static constexpr std::uint64_t pays_when_earned_ns = 200'000'000;
  /// May be spent beyond that to finish what has begun, because the setup is most of the cost of
  /// reading.
  static constexpr std::uint64_t to_go_on_ns = 50'000'000;

  /// The assumed loss of the program while sampling is set up. On an H200, kernels at the power
  /// limit ran 1 to 5 % slower while it was set up, in windows and between them, at any interval;
  /// other kernels lost nothing.
  static constexpr std::uint64_t price_percent = 5;
  static constexpr std::uint64_t price_ns(std::uint64_t held_ns) noexcept {
    return held_ns * price_percent / 100;
  }
  /// If the GPU is busy for only a share of the time, the idle rest costs no kernel time, but our
  /// thread decodes its samples.
  static constexpr double least_share = 0.2;
  static constexpr std::uint64_t price_ns(std::uint64_t held_ns, double busy_share) noexcept {
    return static_cast<std::uint64_t>(static_cast<double>(price_ns(held_ns)) *
                                      std::max(busy_share, least_share));
  }
  /// Setup costs as much as some windows, so it is done only for at least this many.
  static constexpr std::uint64_t windows_in_burst = 6;
  static constexpr std::uint64_t setup_ns = 150'000'000, release_ns = 50'000'000;
  /// The price of a window and the pause after it.
  static constexpr std::uint64_t price_of_window_ns(std::uint64_t window_and_pause_ns) noexcept {
    return price_ns(window_and_pause_ns + release_ns);
  }
  static constexpr std::uint64_t price_of_burst_ns(std::uint64_t window_and_pause_ns) noexcept {
    return price_ns(setup_ns + windows_in_burst * window_and_pause_ns + release_ns);
  }
  /// How long it takes to earn a burst from sampling's half of the share, as in a job. Rounded up
  /// to seconds.
  static std::uint64_t burst_earned_in_ns(double percent,
                                          std::uint64_t window_and_pause_ns) noexcept {
    constexpr std::uint64_t second = 1'000'000'000;
    if (!(percent > 0)) return 0;
    auto const ns = static_cast<double>(price_of_burst_ns(window_and_pause_ns)) / (percent / 200);
    return (static_cast<std::uint64_t>(ns) + second - 1) / second * second;
  }
  /// `percent` of the time that passes; 0: no limit.
  explicit sampling_budget(double percent, std::uint64_t once_ns = usual_once_ns,
                           job_place place = {}, bool once_at_any_time = false) noexcept
      : share_(percent / 100),
        once_ns_(place.rank == 0 ? once_ns : 0),
        once_at_any_time_(once_at_any_time),
        ranks_(std::max(place.ranks, 1u)) {}

  /// Continues the count of time. Calls must not be nested.
  void begin(std::uint64_t now_ns) noexcept { begun_.store(now_ns, std::memory_order_relaxed); }
  bool is_counting() const noexcept { return begun_.load(std::memory_order_relaxed) != 0; }
  void end(std::uint64_t now_ns) noexcept {
    auto const begun = begun_.exchange(0, std::memory_order_relaxed);
    if (begun != 0) before_.fetch_add(now_ns - begun, std::memory_order_relaxed);
  }

  /// What else of the profiler has taken of the program's time so far, in all: that much less is
  /// earned here, but half is left. It is no part of spent().
  void note_others(std::uint64_t ns) noexcept { others_.store(ns, std::memory_order_relaxed); }

  /// What the program was measured to have lost to counters so far, at least. What it has lost
  /// beyond spent() limits all that comes later.
  void note_lost(std::uint64_t ns) noexcept { lost_.store(ns, std::memory_order_relaxed); }

  void spend(std::uint64_t ns) noexcept { on_launches_.fetch_add(ns, std::memory_order_relaxed); }
  /// Notes how much of the spending was for setup, which happens once.
  void note_once(std::uint64_t ns) noexcept { once_.fetch_add(ns, std::memory_order_relaxed); }
  void spend_on_sampling(std::uint64_t ns) noexcept {
    on_sampling_.fetch_add(ns, std::memory_order_relaxed);
  }
  std::uint64_t spent() const noexcept {
    return on_launches_.load(std::memory_order_relaxed) + spent_on_sampling();
  }
  /// Returns what may be spent once on launches: 0 except in rank 0 of a job.
  std::uint64_t once_ns() const noexcept { return once_ns_; }
  std::uint64_t noted_once() const noexcept { return once_.load(std::memory_order_relaxed); }
  std::uint64_t spent_on_sampling() const noexcept {
    return on_sampling_.load(std::memory_order_relaxed);
  }

  /// Time between begin() and end(), in which budget is earned.
  std::uint64_t passed(std::uint64_t now_ns) const noexcept {
    auto const begun = begun_.load(std::memory_order_relaxed);
    return before_.load(std::memory_order_relaxed) + (begun != 0 ? less(now_ns, begun) : 0);
  }
  /// True if the run is long enough for reading launches to begin.
  bool reading_pays(std::uint64_t now_ns) const noexcept {
    return once_at_any_time_ || passed(now_ns) >= reading_pays_after_ns();
  }
  /// The length of such a run.
  std::uint64_t reading_pays_after_ns() const noexcept {
    if (share_ <= 0 || once_at_any_time_) return 0;
    return static_cast<std::uint64_t>(static_cast<double>(pays_when_earned_ns) / share_);
  }
  /// Returns what may be spent on launches now, in ns.
  std::uint64_t left(std::uint64_t now_ns) const noexcept {
    if (share_ <= 0) return ~std::uint64_t{0};
    return less(granted(now_ns), claimed());
  }
  /// True if another launch may be read that costs `price_ns` before it begins.
  bool allows(std::uint64_t now_ns, std::uint64_t price_ns = 0) const noexcept {
    return left(now_ns) > price_ns;
  }
  /// True if, after the setup, the next launch may be read. If the setup took longer than expected,
  /// as in the first process on a machine, the excess is allowed, so that the setup was not in
  /// vain.
  bool may_go_on(std::uint64_t now_ns) const noexcept {
    auto const unexpected = less(noted_once(), std::max(granted_once(now_ns), usual_once_ns));
    return share_ <= 0 || claimed() < granted(now_ns) + to_go_on_ns / ranks_ + unexpected;
  }
  /// The same without the one-time amount, which is only for what has never been read.
  bool has_earned(std::uint64_t now_ns) const noexcept {
    if (share_ <= 0) return true;
    if (ranks_ > 1)
      return on_launches_.load(std::memory_order_relaxed) < earned(now_ns) / 2 / ranks_;
    return spent() + lost_beyond() < earned(now_ns);
  }
  /// True if windows that cost `cost_ns` may be sampled. Sampling always has half of what is
  /// earned.
  bool allows_sampling(std::uint64_t now_ns, std::uint64_t cost_ns) const noexcept {
    if (share_ <= 0) return true;
    auto const all = earned(now_ns);
    auto const launches = less(on_launches_.load(std::memory_order_relaxed), once_ns_);
    auto const left_over = ranks_ > 1 ? 0 : less(all, launches);
    return spent_on_sampling() + lost_beyond() + cost_ns <=
           sampling_once_ns + std::max(all / 2, left_over);
  }

 private:
  /// granted(): what launches may have spent by now. claimed(): what they have used of it.
  std::uint64_t granted(std::uint64_t now_ns) const noexcept {
    auto const all = earned(now_ns);
    return granted_once(now_ns) + (ranks_ > 1 ? all / 2 / ranks_ : all);
  }
  std::uint64_t granted_once(std::uint64_t now_ns) const noexcept {
    if (once_at_any_time_) return once_ns_;
    return reading_pays(now_ns) ? std::min(once_ns_, faster_once * earned(now_ns)) : 0;
  }
  std::uint64_t claimed() const noexcept {
    auto const sampling = ranks_ > 1 ? 0 : less(spent_on_sampling(), sampling_once_ns);
    return on_launches_.load(std::memory_order_relaxed) + sampling + lost_beyond();
  }
  /// In a job other ranks make this one wait, so it does not tell whose loss that is.
  std::uint64_t lost_beyond() const noexcept {
    return ranks_ > 1 ? 0 : less(lost_.load(std::memory_order_relaxed), spent());
  }
  static std::uint64_t less(std::uint64_t a, std::uint64_t b) noexcept { return a > b ? a - b : 0; }
  std::uint64_t earned(std::uint64_t now_ns) const noexcept {
    auto const all = static_cast<std::uint64_t>(share_ * static_cast<double>(passed(now_ns)));
    return all - std::min(all / 2, others_.load(std::memory_order_relaxed));
  }

  double const share_;
  std::uint64_t const once_ns_;
  bool const once_at_any_time_;
  std::uint32_t const ranks_;
  std::atomic<std::uint64_t> begun_{0}, before_{0}, on_launches_{0}, once_{0}, on_sampling_{0},
      others_{0}, lost_{0};
};

// Estimates how much slower a program runs if every launch is read.

/// Times since the first launch.
struct reading_pace {
  std::uint64_t passed_ns = 0;
  std::uint64_t held_ns = 0;    // some call of the program waited for us
  std::uint64_t kernel_ns = 0;  // of all kernels
  std::uint64_t launches_read = 0;
};

/// How long the pace is measured before it is reported.
constexpr std::uint64_t pace_after_ns = 2'000'000'000;

/// Estimates how many times longer the program takes than without us: without us it takes the time
/// in which it was not held, and at least the time of its kernels. It is an estimate, because
/// kernels on several streams or GPUs may overlap.
inline double times_slower(reading_pace const& pace) noexcept {
  auto const passed = static_cast<double>(pace.passed_ns);
  auto const alone = std::max(passed - static_cast<double>(pace.held_ns),
                              std::min(static_cast<double>(pace.kernel_ns), passed));
  return passed / std::max(alone, passed / 1000);
}

inline std::string slowdown_line(reading_pace const& pace) {
  char text[256];
  std::snprintf(text, sizeof text,
                "--metrics exact reads every launch alone: the program takes about %.1f times as "
                "long (%llu launches read in %.1f s). --launch-count, --kernel-name or "
                "--capture-range limit what is read",
                times_slower(pace), static_cast<unsigned long long>(pace.launches_read),
                static_cast<double>(pace.passed_ns) / 1e9);
  return text;
}

}  // namespace gpuprof::guest
