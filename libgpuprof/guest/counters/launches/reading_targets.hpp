// SPDX-License-Identifier: Apache-2.0
// Which signatures are to be read next: those with most GPU time that are not known yet.
#pragma once

#include "guest/counters/launches/signatures/launch_signatures.hpp"

#include <cstdint>
#include <functional>

namespace gpuprof::guest {

/// The worker's thread.
class reading_targets {
 public:
  /// Signatures that together have this share of the time are wanted, the greatest first.
  static constexpr double wanted_share = 0.99;
  /// A signature that did not come for so long belongs to a phase that is over.
  static constexpr std::uint64_t is_over_after_ns = 2'000'000'000;
  /// What comes less often may never come again.
  static constexpr std::uint64_t min_launches = 3;
  /// A signature that is known is read again after so many launches: the work behind it may change.
  static constexpr std::uint64_t again_after = 1000;

  struct outlook {
    std::size_t wanted = 0;               // signatures that have something to be read
    launch_signature::groups groups = 0;  // of metrics that they lack
    /// Of the time of signatures that still come: so much is of signatures that ran often in
    /// windows of sampling.
    double sampled_share = 0;
    double unknown_share = 0;  // of the time of signatures that still come: so much is theirs
  };
  struct what_can_be_read {
    launch_signature::groups groups = 0;  // of metrics
    std::uint64_t max_ns = 0;             // signatures that run longer are left to samples
    std::uint64_t affordable_ns = 0;      // those that run longer have to wait
    /// Groups that would tell nothing of a signature. May be empty.
    std::function<launch_signature::groups(launch_signature const&)> useless_to;
  };
  /// A signature that ran so often in windows of sampling has rates, or so often and so long: some
  /// hundred samples.
  static constexpr std::uint64_t enough_in_windows = 30, enough_of_long = 3;
  static constexpr std::uint64_t enough_ns = 2'000'000;

  /// A window of sampling begins, or has ended.
  static void window_begins(launch_signatures const& all) noexcept;
  static void window_ends(launch_signatures const& all) noexcept;

  /// Marks the signatures in `all` that are targets. `may_repeat`: the budget has room for
  /// signatures that are known.
  outlook choose(launch_signatures const& all, what_can_be_read const& readable, bool may_repeat,
                 std::uint64_t now_ns);
};

}  // namespace gpuprof::guest
