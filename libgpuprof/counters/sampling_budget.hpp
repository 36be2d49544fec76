// What reading counters may cost the program, and what it has cost so far.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace gpuprof {

/// Any thread. Costs are measured where they arise: time a launching thread was held, and time the
/// counters were switched. Relaxed everywhere: a launch more or less does no harm.
class sampling_budget {
 public:
  /// So much may be spent at once, whatever the share: reading each kind of launch once, in all
  /// passes, takes about that. A run of 100 s and 1 % has earned it.
  static constexpr std::uint64_t advance_ns = 1'000'000'000;

  /// `percent` of the time that passes; 0: no limit.
  explicit sampling_budget(double percent) noexcept : share_(percent / 100) {}

  /// Counting of time goes on. Nested calls are the caller's to avoid.
  void begin(std::uint64_t now_ns) noexcept { begun_.store(now_ns, std::memory_order_relaxed); }
  void end(std::uint64_t now_ns) noexcept {
    auto const begun = begun_.exchange(0, std::memory_order_relaxed);
    if (begun != 0) before_.fetch_add(now_ns - begun, std::memory_order_relaxed);
  }

  void spend(std::uint64_t ns) noexcept { spent_.fetch_add(ns, std::memory_order_relaxed); }
  std::uint64_t spent() const noexcept { return spent_.load(std::memory_order_relaxed); }

  bool allows(std::uint64_t now_ns) const noexcept {
    if (share_ <= 0) return true;
    auto const begun = begun_.load(std::memory_order_relaxed);
    auto const passed = before_.load(std::memory_order_relaxed) +
                        (begun != 0 && now_ns > begun ? now_ns - begun : 0);
    auto const earned = static_cast<std::uint64_t>(share_ * static_cast<double>(passed));
    return spent() < std::max(advance_ns, earned);
  }

 private:
  double const share_;
  std::atomic<std::uint64_t> begun_{0}, before_{0}, spent_{0};
};

}  // namespace gpuprof
