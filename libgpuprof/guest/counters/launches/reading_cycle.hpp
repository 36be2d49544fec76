// SPDX-License-Identifier: Apache-2.0
// Chooses which launch is read in which pass, in one cycle through all passes of a metric group.
#pragma once

#include "guest/counters/launches/signatures/launch_signatures.hpp"
#include "model/records.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gpuprof::guest {

/// A group of metrics. Each of its passes is read from another launch.
struct cycle_group {
  unsigned number = 0;
  unsigned passes = 1;
  bool rewrites = false;  // CUPTI rewrites the kernel, and waits for it inside the launch
};

/// One launch of a signature for each pass of a group.
struct reading {
  launch_signature* signature = nullptr;     // null: not kept
  std::vector<read_launch_record> launches;  // each with its group, in the order of passes
  unsigned opened = 0;                       // the last pass it was opened in, from 1
  unsigned last_pass = 0;                    // the last pass that was kept, from 1
};

/// Pure. A reading has the same range number in all passes. The first pass decides which readings
/// there are; later passes wait until the same signatures recur.
class reading_cycle {
 public:
  struct limits {
    std::size_t max_ranges = 8;
    bool every_launch = false;  // one pass around each launch, of any signature
    /// A pass ends after this long without a launch that it needs; a pass without any readings ends
    /// even sooner.
    std::uint64_t patience_ns = 500'000'000;
  };

  reading_cycle(cycle_group group, limits allowed, std::uint64_t now_ns);

  unsigned pass() const noexcept { return pass_; }
  cycle_group const& group() const noexcept { return group_; }

  /// True if a launch of the signature must first show that it ends while its thread waits, because
  /// CUPTI waits for rewritten kernels inside the launch.
  bool needs_proof(launch_signature const& signature) const noexcept;
  /// Returns the range for a launch of the signature in this pass; nullopt: the pass does not need
  /// it.
  std::optional<std::size_t> range_for(launch_signature const& signature) const noexcept;
  /// Call it before the range is opened: a range that cannot be stored must not be read, because
  /// names count ranges. Returns false if memory runs out.
  bool make_room(std::size_t range) noexcept;
  /// Adds a launch that was read, after make_room() for its range. `kept`: it ended, and nothing
  /// else ran in the range.
  void add(std::size_t range, launch_signature& signature, bool kept,
           read_launch_record const& launch, std::uint64_t now_ns) noexcept;

  /// True if this pass has all that it can get. `wanted`: the number of signatures that have
  /// something to be read.
  bool pass_is_over(std::size_t wanted, std::uint64_t now_ns) const noexcept;
  /// Goes to the next pass. Returns false after the last one.
  bool next_pass(std::uint64_t now_ns) noexcept;
  /// True if no reading of this cycle needs the pass.
  bool pass_is_useless() const noexcept;
  bool has_readings() const noexcept { return kept_ != 0; }

  /// Ends the cycle, after the last pass or earlier. Signatures with all passes have the group
  /// done; others may be tried again a limited number of times.
  std::vector<reading> finish();

 private:
  bool lacks(launch_signature const& signature) const noexcept;
  bool is_full() const noexcept { return ranges_.size() >= allowed_.max_ranges; }
  std::size_t expected() const noexcept;

  cycle_group group_;
  limits allowed_;
  unsigned pass_ = 0;
  std::size_t in_pass_ = 0;  // readings kept in this pass
  std::size_t kept_ = 0;     // readings kept in all passes
  std::uint64_t last_kept_ns_ = 0;
  std::vector<reading> ranges_;
  std::vector<read_launch_record> for_next_;  // memory reserved for the launches of the next range
};

}  // namespace gpuprof::guest
