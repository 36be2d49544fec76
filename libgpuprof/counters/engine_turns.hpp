// Who has the counters of the GPUs: the reading of launches or the sampling of time. The hardware
// has room for one.
#pragma once

#include <cstdint>

namespace gpuprof {

enum class counter_turn {
  nobody,
  launches,
  window,
  between_windows  // nothing is counted, but sampling stays set up
};

/// What the turns depend on, now.
struct counter_needs {
  std::uint64_t now_ns = 0;    // monotonic
  bool launches_want = false;  // some kind of launch has passes to run
  bool launches_come = true;   // some have come since the last look
  bool launches_affordable = false;
  bool in_midst = false;  // of readings, which would be lost
  /// Between windows: the next one. Else: a burst of them, with what setting up costs.
  bool window_affordable = false;
  bool must_not_switch = false;  // a stream is being captured, a context destroyed
};

/// Pure. Launches go first: what they tell is exact. When they come and want nothing for a while,
/// or have had the counters for long, time is sampled, window after window as long as the budget
/// lasts. Then nobody has the counters, since kernels lose speed while sampling has them.
class engine_turns {
 public:
  struct choice {
    bool launches = true, windows = true;
    std::uint64_t window_ns = 50'000'000;
  };
  /// From one window to the next, at least.
  static constexpr std::uint64_t pause_between_windows_ns = 20'000'000;

  explicit engine_turns(choice allowed) noexcept : allowed_(allowed) {}

  counter_turn next(counter_needs const& needs) noexcept;
  counter_turn current() const noexcept { return current_; }
  /// The chosen engine could not take its turn.
  void refuse() noexcept { take(counter_turn::nobody, 0); }
  /// The next window could not begin now; sampling stays set up.
  void put_off(std::uint64_t now_ns) noexcept { take(counter_turn::between_windows, now_ns); }
  bool holds_sampling() const noexcept {
    return current_ == counter_turn::window || current_ == counter_turn::between_windows;
  }
  /// Sampling has turned out to be impossible.
  void forbid_windows() noexcept { allowed_.windows = false; }
  bool allows_windows() const noexcept { return allowed_.windows; }
  std::uint64_t window_ns() const noexcept { return allowed_.window_ns; }

 private:
  counter_turn take(counter_turn turn, std::uint64_t now_ns) noexcept;
  counter_turn after_window(counter_needs const& needs) noexcept;
  bool launches_are_done(counter_needs const& needs) noexcept;

  choice allowed_;
  counter_turn current_ = counter_turn::nobody;
  std::uint64_t since_ = 0;
  std::uint64_t quiet_since_ = 0;   // launches want nothing; 0: they do
  std::uint64_t active_since_ = 0;  // they come, and did before; not before quiet_since_
  std::uint64_t idle_since_ = 0;    // none come; 0: some did at the last look
};

}  // namespace gpuprof
