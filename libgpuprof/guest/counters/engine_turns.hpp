// SPDX-License-Identifier: Apache-2.0
// Decides which engine has the counters of the GPUs: reading of launches, or sampling. The hardware
// has room for one.
#pragma once

#include <algorithm>
#include <cstdint>

namespace gpuprof::guest {

enum class counter_turn {
  nobody,
  launches,
  window,
  between_windows  // nothing is counted, but sampling stays set up
};

/// The current state that the turns depend on.
struct counter_needs {
  std::uint64_t now_ns = 0;    // monotonic
  bool launches_want = false;  // some signature has passes to run
  bool launches_affordable = false;
  bool in_midst = false;           // readings in progress would be lost
  bool is_costly_to_stop = false;  // launches: setup is kept unless sampling needs it
  /// Between windows: there is budget for the next window. Otherwise: for a burst, including its
  /// setup.
  bool window_affordable = false;
  bool is_our_turn = true;       // to read launches; other ranks do not now
  bool is_burst_moment = true;   // all ranks of the job begin bursts now
  bool sampled_enough = true;    // most of the current work ran often in windows
  bool windows_are_few = false;  // no more than a burst or two are affordable soon
  bool must_not_switch = false;  // a stream is being captured, a context destroyed
  bool is_prepared = true;       // what runs now is recorded as the next window needs it
};

/// Pure. Sampling comes first, because it does not stop launches and tells something about every
/// kernel: densely, until most of the current work is sampled enough. Then launches are read, as
/// long as readings are wanted and the budget has room, and sampling runs in bursts. In between
/// nothing is counted, because kernels are slower while sampling is set up, and launches are slower
/// while ranges are on. With `launches_first` the order is reversed, because a run of a second or
/// two would be over before launches are read.
class engine_turns {
 public:
  struct allowed_engines {
    bool launches = true, windows = true, launches_first = false;
    std::uint64_t window_ns = 50'000'000;
  };
  /// The average pause between two windows. Each pause differs from the last one by some ms:
  /// windows that always met the same part of a program's step would never see the other kernels.
  static constexpr std::uint64_t pause_between_windows_ns = 20'000'000;
  /// Where windows are few, each pause of a burst is twice as long as the one before, 40 to 320 ms:
  /// nobody knows how long the run will be, and programs tune themselves first. With 80 ms at most,
  /// 7 instead of 69 % of the kernel time of a JAX training had rates (H200, one run each).
  static constexpr std::uint64_t max_doublings = 4;
  static constexpr std::uint64_t mean_long_pause_ns = 184'000'000;  // of the first five
  static constexpr std::uint64_t pause_before_window_ns(std::uint64_t window,
                                                        std::uint64_t doublings = 0) noexcept {
    auto const mean = pause_between_windows_ns << std::min(doublings, max_doublings);
    return mean + (8 + 7 * window) % 16 * 1'000'000 - 8'000'000;
  }
  /// How long sampling runs, windows and pauses together, before any launch is read: at least, and
  /// at most if the minimum was not enough. Later bursts fill what is missing.
  static constexpr std::uint64_t min_dense_ns = 500'000'000, max_dense_ns = 1'500'000'000;
  /// With launches first: how long launches may take to recur before sampling starts instead.
  static constexpr std::uint64_t max_wait_to_recur_ns = 200'000'000;

  explicit engine_turns(allowed_engines allowed) noexcept : allowed_(allowed) {}

  counter_turn next(counter_needs const& needs) noexcept;
  counter_turn current() const noexcept { return current_; }
  /// Call it if the chosen engine could not take its turn.
  void refuse() noexcept { take(counter_turn::nobody, 0); }
  /// Call it if the next window could not begin now: the current engine keeps the counters.
  void put_off(std::uint64_t now_ns, counter_turn keeps) noexcept { take(keeps, now_ns); }
  bool holds_sampling() const noexcept {
    return current_ == counter_turn::window || current_ == counter_turn::between_windows;
  }
  /// Call it if reading turned out to be impossible.
  void forbid_launches() noexcept { allowed_.launches = false; }
  std::uint64_t window_ns() const noexcept { return allowed_.window_ns; }
  /// For windows that begin later.
  void set_window_ns(std::uint64_t ns) noexcept { allowed_.window_ns = ns; }
  /// The window that was chosen has begun, after a setup that may have taken long.
  void window_began(std::uint64_t now_ns) noexcept { since_ = now_ns; }
  /// In a window: the rest of it.
  std::uint64_t window_left_ns(std::uint64_t now_ns) const noexcept {
    auto const end = since_ + allowed_.window_ns;
    return end > now_ns ? end - now_ns : 0;
  }
  /// Between windows: the rest of the pause.
  std::uint64_t pause_left_ns(std::uint64_t now_ns) const noexcept {
    auto const end = since_ + pause_before_window_ns(windows_, few_ ? in_burst_ + 1 : 0);
    return end > now_ns ? end - now_ns : 0;
  }

 private:
  counter_turn take(counter_turn turn, std::uint64_t now_ns) noexcept;
  bool launches_are_done(counter_needs const& needs) noexcept;
  bool is_sampled_enough(counter_needs const& needs) const noexcept {
    return sampled_ns_ >= (needs.sampled_enough ? min_dense_ns : max_dense_ns);
  }
  counter_turn after_window(counter_needs const& needs) const noexcept;
  bool waits_for_launches(counter_needs const& needs) noexcept;
  bool may_begin_burst(counter_needs const& needs) const noexcept {
    return needs.is_burst_moment || !is_sampled_enough(needs);
  }

  allowed_engines allowed_;
  counter_turn current_ = counter_turn::nobody;
  std::uint64_t since_ = 0;
  std::uint64_t first_chance_ns_ = 0;  // when sampling was first affordable
  std::uint64_t quiet_since_ = 0;      // since when launches want nothing; 0: they do
  std::uint64_t sampled_ns_ = 0;       // windows and pauses so far
  std::uint64_t windows_ = 0;          // windows that a pause preceded
  std::uint64_t in_burst_ = 0;         // those of this burst
  bool few_ = false;                   // see counter_needs
};

}  // namespace gpuprof::guest
