// SPDX-License-Identifier: Apache-2.0
// Limits the CPU time that sampling takes on our thread, and chooses the interval between samples
// and how long before a window graphs are recorded by nodes.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace gpuprof::guest {

/// Lengths, sorted into powers of two. One thread adds, any reads.
class known_lengths {
 public:
  void add(std::uint64_t ns, std::uint64_t weight) noexcept {
    auto& bin = weights_[std::min<std::size_t>(std::bit_width(ns), weights_.size() - 1)];
    bin.store(bin.load(relaxed) + weight, relaxed);
  }
  /// Returns a length that all but `share` of them reach, by weight, rounded down to a power of
  /// two; 0: none is known yet.
  std::uint64_t reached_in_all_but(double share) const noexcept {
    double all = 0, shorter = 0;
    for (auto const& bin : weights_) all += static_cast<double>(bin.load(relaxed));
    for (std::size_t i = 1; all > 0 && i < weights_.size(); ++i) {
      shorter += static_cast<double>(weights_[i].load(relaxed));
      if (shorter > share * all) return std::uint64_t{1} << (i - 1);
    }
    return 0;
  }

 private:
  static constexpr auto relaxed = std::memory_order_relaxed;  // an estimate
  std::array<std::atomic<std::uint64_t>, 40> weights_{};      // by the number of bits of the length
};

/// Returns the interval for the next windows. Each sample costs the same, and beyond some samples
/// in a kernel more of them say less than other kernels would. `usual_ns` if kernels are short or
/// unknown. `kernels`: their lengths, by GPU time.
inline std::uint64_t interval_for(known_lengths const& kernels, std::uint64_t usual_ns) noexcept {
  constexpr double shorter_share = 0.05;
  constexpr std::uint64_t intervals_in_kernel = 20, max_times = 10;
  auto const fitting = kernels.reached_in_all_but(shorter_share) / intervals_in_kernel;
  return std::clamp(fitting, usual_ns, max_times * usual_ns);
}

/// How long before a window each kernel of a graph must get a record of its own, so that whole
/// graphs that were launched before have ended when the window begins, half a second at most; 0:
/// not known. `from_launch_to_end`: of kernels in graphs, by number.
inline std::uint64_t lead_of_window(known_lengths const& from_launch_to_end) noexcept {
  constexpr double longer_share = 0.05;
  constexpr std::uint64_t max_ns = 500'000'000;
  return std::min(2 * from_launch_to_end.reached_in_all_but(1 - longer_share), max_ns);
}

/// The CPU time of our thread, which a container with a CPU quota takes from the program. Used by
/// the worker's thread.
class sampling_effort {
 public:
  /// Of a core, for each percent of --overhead-budget. `at_first_ns` of it may be used early.
  static constexpr double share_of_core = 0.05;
  static constexpr std::uint64_t at_first_ns = 1'500'000'000;
  /// If the figures of all kernels are good, a quarter of that.
  static constexpr std::uint64_t good_after_samples = 20'000;
  static constexpr double less_if_good = 0.25;
  /// A sample of the set `roofline` before any was decoded. Setting up and releasing. As measured
  /// on H200s.
  static constexpr std::uint64_t usual_sample_ns = 100'000, usual_setup_ns = 170'000'000;

  /// 0: no limit.
  explicit sampling_effort(double budget_percent) noexcept
      : share_(share_of_core * budget_percent) {}

  void spend(std::uint64_t cpu_ns) noexcept { spent_ += cpu_ns; }
  /// All samples so far took `cpu_ns` to decode, which is a part of what was spent.
  void note_decoded(std::uint64_t samples, std::uint64_t cpu_ns) noexcept {
    samples_ = samples;
    if (samples >= min_samples) sample_ns_ = cpu_ns / samples;
  }
  std::uint64_t price_ns(std::uint64_t samples) const noexcept { return samples * sample_ns_; }
  /// True if each of `gpus` may be sampled at that price. `sampled_enough`: each kernel was seen
  /// often. `is_steady`: the program works; while it starts nothing is spent early.
  bool allows(std::uint64_t passed_ns, std::uint64_t price_ns, std::size_t gpus,
              bool sampled_enough = false, bool is_steady = true) const noexcept {
    if (share_ <= 0) return true;
    auto const is_good = sampled_enough && samples_ >= good_after_samples;
    auto const share = is_good ? less_if_good * share_ : share_;
    auto const earned = static_cast<std::uint64_t>(share * static_cast<double>(passed_ns));
    return spent_ + price_ns * gpus <= std::max(is_steady ? at_first_ns : 0, earned) * gpus;
  }

 private:
  static constexpr std::uint64_t min_samples = 500;

  double const share_;
  std::uint64_t spent_ = 0, samples_ = 0, sample_ns_ = usual_sample_ns;
};

}  // namespace gpuprof::guest
