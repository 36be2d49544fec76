// SPDX-License-Identifier: Apache-2.0
// Which launch is read in which pass: one way through all passes of a group of metrics.
#pragma once

#include "guest/counters/launches/signatures/launch_signatures.hpp"
#include "model/records.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gpuprof::guest {

/// A group of metrics, read from one launch for each of its passes.
struct cycle_group {
  unsigned number = 0;
  unsigned passes = 1;
  bool rewrites = false;  // CUPTI rewrites the kernel, and waits for it inside the launch
};

/// One launch of a signature for each pass of a group.
struct reading {
  launch_signature* signature = nullptr;     // null: not to be kept
  std::vector<read_launch_record> launches;  // each with its group, pass by pass
  unsigned opened = 0;                       // the last pass it was in, counted from 1
  unsigned last_pass = 0;                    // in which it was kept, counted from 1
};

/// Pure. A reading has the same range in all passes, told by its number; which ones there are is
/// decided in the first pass, the later ones wait for these to come again.
class reading_cycle {
 public:
  struct limits {
    std::size_t max_ranges = 8;
    bool every_launch = false;  // one pass around each launch, whatever its signature
    /// A pass ends when for so long no launch came that it has use for; one without any readings
    /// even sooner.
    std::uint64_t patience_ns = 500'000'000;
  };

  reading_cycle(cycle_group group, limits allowed, std::uint64_t now_ns);

  unsigned pass() const noexcept { return pass_; }
  cycle_group const& group() const noexcept { return group_; }

  /// Of the signature a launch has first to show that it ends while its thread waits: CUPTI waits
  /// for rewritten kernels inside the launch.
  bool needs_proof(launch_signature const& signature) const noexcept;
  /// The range that a launch of the signature would have in this pass; nullopt: there is no use for
  /// it.
  std::optional<std::size_t> range_for(launch_signature const& signature) const noexcept;
  /// Before the range is opened: what cannot be noted down must not be read, since names count
  /// ranges. False: there is no memory.
  bool make_room(std::size_t range) noexcept;
  /// It was read, in a range that room was made for; `kept`: nothing else ran in it, and it ended.
  void add(std::size_t range, launch_signature& signature, bool kept,
           read_launch_record const& launch, std::uint64_t now_ns) noexcept;

  /// This pass has all that it can get. `wanted`: signatures in all that have something to be read.
  bool pass_is_over(std::size_t wanted, std::uint64_t now_ns) const noexcept;
  /// The next pass. False: the last one has been run.
  bool next_pass(std::uint64_t now_ns) noexcept;
  /// No reading of this cycle has use for the pass.
  bool pass_is_useless() const noexcept;
  bool has_readings() const noexcept { return kept_ != 0; }

  /// Kinds of which all passes were run have the group done; others may be tried again, not for
  /// ever. After the last pass, or earlier.
  std::vector<reading> finish();

 private:
  bool lacks(launch_signature const& signature) const noexcept;
  bool is_full() const noexcept { return ranges_.size() >= allowed_.max_ranges; }
  std::size_t expected() const noexcept;

  cycle_group group_;
  limits allowed_;
  unsigned pass_ = 0;
  std::size_t in_pass_ = 0;  // readings kept
  std::size_t kept_ = 0;     // in all passes
  std::uint64_t last_kept_ns_ = 0;
  std::vector<reading> ranges_;
  std::vector<read_launch_record> for_next_;  // launches of the next range, reserved
};

}  // namespace gpuprof::guest
