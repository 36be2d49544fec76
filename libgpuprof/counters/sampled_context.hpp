// The counters of one context: one group of metrics at a time, read around launches one by one.
#pragma once

#include "counters/launch_signatures.hpp"
#include "counters/range_profiler.hpp"
#include "model/ids.hpp"
#include "model/records.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gpuprof {

/// Metrics that are read together, as they were prepared for a chip.
struct prepared_group {
  std::vector<std::string> metrics;
  counter_configuration configuration;
};

/// Launching threads open and close ranges, one at a time; the drain thread changes groups in
/// between. Whoever has claimed the context uses its range profiler; nobody waits for it.
class sampled_context {
 public:
  sampled_context(CUcontext context, context_id id, device_id device) noexcept
      : context_(context), id_(id), device_(device) {}

  CUcontext handle() const noexcept { return context_; }
  device_id device() const noexcept { return device_; }

  // Launching threads --------------------------------------------------------

  bool has_ended() const noexcept { return ended_.load(std::memory_order_acquire); }
  /// The group being read; -1: none.
  int group() const noexcept { return group_.load(std::memory_order_acquire); }
  /// A launch came that has these groups still to run, and not the one that is being read.
  void note_want(launch_signature::groups wanted) noexcept {
    wanted_.fetch_or(wanted, std::memory_order_relaxed);
    declined_.fetch_add(1, std::memory_order_relaxed);
  }
  bool claim() noexcept { return !claimed_.test_and_set(std::memory_order_acquire); }
  void release() noexcept { claimed_.clear(std::memory_order_release); }

  /// With the claim. False: the launch goes on without.
  bool open_range(launch_signature& signature, correlation_id correlation) noexcept;
  /// With the claim, by the same thread. False: what was counted is lost.
  bool close_range() noexcept;
  /// The launch failed, or its end is not waited for: what is counted is not kept.
  void drop_range() noexcept { opened_.signature = nullptr; }

  // Drain thread -------------------------------------------------------------

  /// Switches counters on. `groups` outlives this object. Takes some 200 ms the first time.
  result<void> prepare(cupti_api const& api, std::vector<prepared_group> const& groups);
  bool is_prepared() const noexcept { return prepared_.load(std::memory_order_acquire); }

  /// Counters of launches that have ended, not evaluated yet.
  struct batch {
    unsigned group = 0;
    counted_ranges counted;
    struct launch {
      std::string name;  // of its range
      sampled_launch_record record;
    };
    std::vector<launch> launches;
  };
  /// Takes what was counted when the group is to change, or `closing`; starts the next group that
  /// is wanted. False when the context is in use: come again.
  result<bool> turn(bool closing, std::vector<batch>& finished);
  /// With the claim: gives the counters back, keeps what was counted. Unless `for_good`, when the
  /// context is going, it can be prepared again.
  void end(std::vector<batch>& finished, bool for_good) noexcept;

 private:
  struct open_launch {
    launch_signature* signature = nullptr;  // null: not to be kept
    correlation_id correlation{};
    timestamp_ns opened;
  };
  struct closed_launch {
    launch_signature* signature;
    batch::launch launch;
  };

  bool takes_several_passes() const noexcept;
  bool should_change(bool closing) const noexcept;
  unsigned next_group(launch_signature::groups wanted) const noexcept;
  result<void> change(bool closing, std::vector<batch>& finished);
  result<void> take(std::vector<batch>& finished);
  result<void> start(unsigned group);

  CUcontext const context_;
  context_id const id_;
  device_id const device_;
  std::atomic<int> group_{-1};
  std::atomic<launch_signature::groups> wanted_{0};
  std::atomic<std::uint32_t> declined_{0};
  std::atomic_flag claimed_ = ATOMIC_FLAG_INIT;
  std::atomic<bool> ended_{false}, prepared_{false};

  // With the claim alone.
  std::unique_ptr<range_profiler> profiler_;
  cupti_api const* api_ = nullptr;
  std::vector<prepared_group> const* groups_ = nullptr;
  range_setup setup_;  // of the group being read
  open_launch opened_;
  std::vector<closed_launch> closed_;
  std::size_t ranges_ = 0;  // pushed in this pass
  std::size_t ranges_at_turn_ = 0;
  std::size_t quiet_turns_ = 0;  // of a group of several passes: since the last range
  /// In a group of several passes each pass is one launch of this kind.
  launch_signature* bound_ = nullptr;
  int last_group_ = -1;
};

}  // namespace gpuprof
