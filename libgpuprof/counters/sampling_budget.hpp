// What reading counters may cost the program, and what it has cost so far.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace gpuprof {

/// Any thread. Costs are measured where they arise: time a launching thread was held inside CUPTI,
/// and time the counters were switched (not the wait until the GPU has done what was queued, which
/// costs it nothing); sampling in time costs a share of its windows. Each of the two may have
/// what the other leaves, sampling half of it in any case. Relaxed everywhere: a launch more or
/// less does no harm.
class sampling_budget {
 public:
  /// So much may be spent at once, whatever the share: reading each kind of launch once, in all
  /// passes, takes about that. A run of 100 s and 1 % has earned it.
  static constexpr std::uint64_t advance_ns = 1'000'000'000;
  /// The same for sampling: a few windows.
  static constexpr std::uint64_t sampling_advance_ns = 10'000'000;

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
  /// A window that costs so much may be sampled.
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

}  // namespace gpuprof
