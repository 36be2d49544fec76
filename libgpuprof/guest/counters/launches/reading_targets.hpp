// SPDX-License-Identifier: Apache-2.0
// Chooses the signatures to read next: those with most GPU time that are not known yet.
#pragma once

#include "guest/counters/launches/signatures/launch_signatures.hpp"

#include <cstdint>
#include <functional>

namespace gpuprof::guest {

/// Used by the worker's thread only.
class reading_targets {
 public:
  /// Signatures that together have this share of the time are wanted, the greatest first.
  static constexpr double wanted_share = 0.99;
  /// A signature that was not launched for this long belongs to a phase that is over.
  static constexpr std::uint64_t is_over_after_ns = 2'000'000'000;
  /// A signature with fewer launches may never recur.
  static constexpr std::uint64_t min_launches = 3;
  /// A known signature is read again after this many launches, because its work may have changed.
  static constexpr std::uint64_t again_after = 1000;

  struct outlook {
    std::size_t wanted = 0;               // signatures that have something to be read
    launch_signature::groups groups = 0;  // groups that they lack
    /// The share of signatures that ran often in sampling windows, in the time of signatures that
    /// still recur.
    double sampled_share = 0;
    double unknown_share = 0;  // share of wanted signatures in that time
  };
  struct what_can_be_read {
    launch_signature::groups groups = 0;  // groups of metrics
    std::uint64_t max_ns = 0;             // longer signatures are left to sampling
    std::uint64_t affordable_ns = 0;      // longer signatures have to wait
    /// Returns the groups that would tell nothing about a signature. May be empty.
    std::function<launch_signature::groups(launch_signature const&)> useless_to;
  };
  /// A signature has rates if it ran this often in sampling windows, or fewer times but this long:
  /// some hundred samples.
  static constexpr std::uint64_t enough_in_windows = 30, enough_of_long = 3;
  static constexpr std::uint64_t enough_ns = 2'000'000;

  /// A sampling window begins, or has ended.
  static void window_begins(launch_signatures const& all) noexcept;
  static void window_ends(launch_signatures const& all) noexcept;

  /// Marks the signatures in `all` that are targets. `may_repeat`: the budget allows to read known
  /// signatures again.
  outlook choose(launch_signatures const& all, what_can_be_read const& readable, bool may_repeat,
                 std::uint64_t now_ns);
};

}  // namespace gpuprof::guest
