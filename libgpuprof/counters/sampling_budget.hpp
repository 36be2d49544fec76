// What reading counters may cost the program, and what it has cost so far.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace gpuprof {

/// Any thread. Costs are measured where they arise: time a launching thread was held inside CUPTI,
/// and time the counters were switched (not the wait until the GPU has done what was queued, which
/// costs it nothing); sampling in time costs a share of the time for which it is held, from its
/// set-up until it is given back. Each of the two may have what the other leaves, sampling half of
/// it in any case. Relaxed everywhere: a launch more or less does no harm.
class sampling_budget {
 public:
  /// So much may be spent at once, whatever the share: reading each kind of launch once, in all
  /// passes, takes about that. A run of 100 s and 1 % has earned it.
  static constexpr std::uint64_t advance_ns = 1'000'000'000;

  /// What a program is taken to lose while sampling is held. Kernels that draw all the power there
  /// is ran 1 to 5 % slower on an H200 as long as it was set up, in windows and between them, at
  /// any interval; others lost nothing.
  static constexpr std::uint64_t price_percent = 5;
  static constexpr std::uint64_t price_ns(std::uint64_t held_ns) noexcept {
    return held_ns * price_percent / 100;
  }
  /// Setting up costs as much as some windows: it is not begun for fewer.
  static constexpr std::uint64_t windows_in_burst = 6;
  static constexpr std::uint64_t setting_up_ns = 150'000'000, giving_back_ns = 50'000'000;
  /// Of a window and the pause after it.
  static constexpr std::uint64_t price_of_window_ns(std::uint64_t window_and_pause_ns) noexcept {
    return price_ns(window_and_pause_ns + giving_back_ns);
  }
  static constexpr std::uint64_t price_of_burst_ns(std::uint64_t window_and_pause_ns) noexcept {
    return price_ns(setting_up_ns + windows_in_burst * window_and_pause_ns + giving_back_ns);
  }
  /// What sampling may spend at once: a burst of windows of 50 ms, so that short programs have
  /// some.
  static constexpr std::uint64_t sampling_advance_ns = 31'000'000;

  /// `percent` of the time that passes; 0: no limit.
  explicit sampling_budget(double percent) noexcept : share_(percent / 100) {}

  /// Counting of time goes on. Nested calls are the caller's to avoid.
  void begin(std::uint64_t now_ns) noexcept { begun_.store(now_ns, std::memory_order_relaxed); }
  void end(std::uint64_t now_ns) noexcept {
    auto const begun = begun_.exchange(0, std::memory_order_relaxed);
    if (begun != 0) before_.fetch_add(now_ns - begun, std::memory_order_relaxed);
  }

  void spend(std::uint64_t ns) noexcept { on_launches_.fetch_add(ns, std::memory_order_relaxed); }
  void spend_on_sampling(std::uint64_t ns) noexcept {
    on_sampling_.fetch_add(ns, std::memory_order_relaxed);
  }
  std::uint64_t spent() const noexcept {
    return on_launches_.load(std::memory_order_relaxed) + spent_on_sampling();
  }
  std::uint64_t spent_on_sampling() const noexcept {
    return on_sampling_.load(std::memory_order_relaxed);
  }

  /// Another launch may be read, which costs so much before it begins.
  bool allows(std::uint64_t now_ns, std::uint64_t price_ns = 0) const noexcept {
    if (share_ <= 0) return true;
    return on_launches_.load(std::memory_order_relaxed) + price_ns <
           std::max(advance_ns, less(earned(now_ns), spent_on_sampling()));
  }
  /// The same without the advance, which is for what has never been read.
  bool has_earned(std::uint64_t now_ns) const noexcept {
    return share_ <= 0 ||
           on_launches_.load(std::memory_order_relaxed) < less(earned(now_ns), spent_on_sampling());
  }
  /// Windows that cost so much may be sampled.
  bool allows_sampling(std::uint64_t now_ns, std::uint64_t cost_ns) const noexcept {
    if (share_ <= 0) return true;
    auto const all = earned(now_ns);
    auto const left = less(all, on_launches_.load(std::memory_order_relaxed));
    return spent_on_sampling() + cost_ns <= std::max({sampling_advance_ns, all / 2, left});
  }

 private:
  static std::uint64_t less(std::uint64_t a, std::uint64_t b) noexcept { return a > b ? a - b : 0; }
  std::uint64_t earned(std::uint64_t now_ns) const noexcept {
    auto const begun = begun_.load(std::memory_order_relaxed);
    auto const passed =
        before_.load(std::memory_order_relaxed) + (begun != 0 ? less(now_ns, begun) : 0);
    return static_cast<std::uint64_t>(share_ * static_cast<double>(passed));
  }

  double const share_;
  std::atomic<std::uint64_t> begun_{0}, before_{0}, on_launches_{0}, on_sampling_{0};
};

static_assert(sampling_budget::price_of_burst_ns(70'000'000) ==
              sampling_budget::sampling_advance_ns);

}  // namespace gpuprof
