// The counters of one context: readings of some kinds of launches, a pass of the plan at a time.
#pragma once

#include "counters/launches/launch_signatures.hpp"
#include "counters/launches/prepared_counters.hpp"
#include "counters/launches/range_profiler.hpp"
#include "model/ids.hpp"
#include "model/records.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gpuprof {

/// What can be told of a group before all its passes have run.
struct early_findings {
  std::vector<std::size_t> complete;  // ranges by number: later passes bring them nothing
  bool out_of_order = false;          // kernels were rewritten in another pass than was assumed
};

/// A reading takes one launch of its kind for each pass of a group. In the first pass of the group
/// it is decided which kinds are read; the later ones wait for these to come again. Groups that
/// share a configuration follow on each other, its passes are a cycle. Changing the configuration
/// takes some 150 ms, the next pass 2 to 25.
///
/// Launching threads open and close ranges, one at a time; the worker's thread turns to the next
/// pass in between. Whoever has claimed the context uses its range profiler.
class sampled_context {
 public:
  /// `is_interrupted`: what waits for the worker now must not wait for long. Lives as long as this.
  sampled_context(CUcontext context, context_id id, device_id device, bool every_launch,
                  std::function<bool()> const& is_interrupted) noexcept
      : context_(context),
        id_(id),
        device_(device),
        every_launch_(every_launch),
        is_interrupted_(is_interrupted) {}

  CUcontext handle() const noexcept { return context_; }
  bool is(CUcontext context, std::uint32_t number) const noexcept {
    return context_ == context && raw(id_) == number;
  }
  /// A launch in it shows that it is there after all.
  void revive() noexcept { ended_.store(false, std::memory_order_release); }
  /// A launch in it does not end: the claim is never given back.
  bool is_stuck() const noexcept { return stuck_.load(std::memory_order_acquire); }
  void is_stuck(bool now) noexcept { stuck_.store(now, std::memory_order_release); }
  device_id device() const noexcept { return device_; }
  bool has_ended() const noexcept { return ended_.load(std::memory_order_acquire); }
  /// The worker's thread is inside CUPTI for this context. A program that launches without a pause
  /// would keep it waiting there for ever: launches wait instead.
  bool is_changing() const noexcept { return changing_.load(std::memory_order_acquire); }

  // Launching threads --------------------------------------------------------

  /// The number of this launch, counted from 1.
  std::uint32_t count_launch() noexcept {
    return launches_.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  std::uint32_t launches() const noexcept { return launches_.load(std::memory_order_relaxed); }
  /// The group being read; -1: none.
  int group() const noexcept { return group_.load(std::memory_order_acquire); }
  bool group_patches() const noexcept { return patches_.load(std::memory_order_acquire); }
  /// Whether this pass has use for a launch of the kind.
  bool wants(launch_signature const& signature) const noexcept;
  /// A launch of the kind was read in this pass or one before it, since the cycle began.
  bool is_reading(launch_signature const& signature) const noexcept {
    return signature.read_in() / 64 == pass_number_.load(std::memory_order_relaxed) / 64;
  }
  /// A launch came that has these groups still to run (none: the current one), and this pass has no
  /// use for it.
  void note_want(launch_signature::groups wanted) noexcept {
    wanted_.fetch_or(wanted, std::memory_order_relaxed);
  }
  /// These groups are not to be read any more.
  void forget(launch_signature::groups left_out) noexcept {
    wanted_.fetch_and(~left_out, std::memory_order_relaxed);
  }
  bool claim() noexcept { return !claimed_.test_and_set(std::memory_order_acquire); }
  void release() noexcept { claimed_.clear(std::memory_order_release); }

  // With the claim, on one thread.
  bool has_room(launch_signature const& signature) const noexcept;
  /// False: nothing is counted.
  bool open_range(launch_signature& signature) noexcept;
  /// What was counted belongs to this launch, of the kind that the range was opened for; null: it
  /// is not kept.
  bool close_range(launch_signature* signature, correlation_id correlation = {}) noexcept;

  /// All kinds of this reading have run this pass, and it was not the first: the next can follow at
  /// once, while the GPU has nothing to do. Before another group begins the worker has a look.
  bool pass_is_full() const noexcept {
    return !begins_group() && ranges_in_pass_ > 0 && ranges_in_pass_ >= expected_ &&
           !precedes_group();
  }

  /// The worker is about to switch, and waits a little for a launch: once its stream has run dry
  /// CUPTI has nothing to wait for. (Starting a group inside a callback takes it 0.6 s longer.)
  bool awaits_launch() const noexcept { return awaits_launch_.load(std::memory_order_acquire); }
  enum class stream_state { unknown, waited_for, dry, busy };
  /// Of the launch that is being entered, for the worker. Busy: it puts the switch off.
  void tell(stream_state now) noexcept { stream_.store(now, std::memory_order_release); }

  // The worker's thread ------------------------------------------------------

  /// Of what the passes so far have counted in ranges of these names; `later`: groups of the
  /// configuration of which no pass has run. The worker's thread.
  using look_function = std::function<early_findings(
      std::span<std::uint8_t const> image, std::vector<std::string> const& names, unsigned group,
      std::span<unsigned const> later)>;
  /// With the claim. `counters` outlives this object.
  void prepare(cupti_api const& api, prepared_counters const& counters, look_function look);
  /// It has still to be prepared, is in the midst of a reading, or a launch came that has passes to
  /// run.
  bool wants_turn() const noexcept {
    return !has_ended() && (!is_prepared() || (group() >= 0 && pass() != 0) ||
                            wanted_.load(std::memory_order_relaxed) != 0);
  }
  /// Some launches were read, and passes are still to run.
  bool is_in_midst() const noexcept {
    return group() >= 0 && has_read_.load(std::memory_order_relaxed);
  }
  bool is_prepared() const noexcept { return prepared_.load(std::memory_order_acquire); }

  struct range_reading {
    std::vector<sampled_launch_record> launches;  // each with its group, pass by pass
    launch_signature::groups opened = 0;          // in whose passes the range was, kept or not
    launch_signature* signature = nullptr;        // null: not to be kept
    /// What was counted of it is lost.
    void read_again() const noexcept {
      if (signature != nullptr) signature->begin_again();
    }
  };
  /// What was counted in a cycle, not evaluated yet.
  struct batch {
    std::vector<unsigned> groups;
    counted_ranges counted;
    std::vector<range_reading> readings;  // by number of their range
    bool out_of_order = false;            // nothing of it can be used
  };
  /// Groups share no configuration any more: their passes come in an order that is not known.
  void read_apart() noexcept { apart_.store(true, std::memory_order_relaxed); }
  /// Claims it unless a launch is being read, which is waited for a little when `closing`.
  bool claim_for_turn(bool closing);
  enum class turn_by { worker, launch, closing };
  /// With the claim: turns to the next pass when this one has all it can get, or all passes are to
  /// end (closing). `may_start`: the budget allows another configuration, which takes some 150 ms,
  /// a pass 2 to 25. `switching_since`: when CUPTI was called, after a wait for launches;
  /// monotonic.
  result<void> turn_claimed(turn_by who, bool may_start, std::vector<batch>& finished,
                            std::uint64_t& switching_since);
  /// With the claim, after a closing turn: gives the counters back until a launch wants them again.
  void let_go() noexcept;
  bool holds_counters() const noexcept { return holds_counters_.load(std::memory_order_acquire); }
  /// Gives the counters back, keeps what was counted. Unless `for_good`, when the context is going,
  /// it can be prepared again. With the claim.
  void end(std::vector<batch>& finished, bool for_good) noexcept;

 private:
  friend class context_change;
  struct reading_so_far : range_reading {
    launch_signature::groups complete = 0;  // before all their passes
  };

  unsigned pass() const noexcept { return pass_number_.load(std::memory_order_relaxed) % 64; }
  bool begins_group() const noexcept {
    return pass_number_.load(std::memory_order_relaxed) ==
           group_began_.load(std::memory_order_relaxed);
  }
  /// It is the last pass of a group, and another one follows.
  bool precedes_group() const noexcept {
    return pass() + 1 == group_end_ && place_ + 1 < configuration_->groups.size();
  }
  bool is_wanted(std::span<unsigned const> groups) const noexcept;
  bool has_other_groups() const noexcept;
  std::span<unsigned const> later_groups() const noexcept;
  bool has_range(launch_signature const& signature) const noexcept;
  void drop_from_group(reading_so_far& reading) noexcept;
  bool pass_is_over() const noexcept;
  bool wait_for_a_launch() noexcept;
  prepared_configuration const* next_configuration(bool may_change) const noexcept;
  result<void> next_pass(bool closing, bool may_go_round, bool may_change,
                         std::vector<batch>& finished);
  result<bool> run_on(bool closing);
  result<void> look();
  void end_group() noexcept;
  void drop_cycle(std::vector<batch>& finished);
  result<void> finish(std::vector<batch>& finished);
  result<void> start(prepared_configuration const& wanted);
  result<void> start_next_pass();
  void number_pass(std::uint32_t number) noexcept;
  void enter_group(std::size_t place) noexcept;
  bool has_use_for_pass() noexcept;
  void lose_profiler() noexcept;

  CUcontext const context_;
  context_id const id_;
  device_id const device_;
  bool const every_launch_;
  std::function<bool()> const& is_interrupted_;
  std::atomic<int> group_{-1};
  std::atomic<bool> patches_{false};
  /// Counts cycles in steps of 64, and passes in between: no two passes of the process are alike.
  std::atomic<std::uint32_t> pass_number_{0};
  std::atomic<std::uint32_t> group_began_{0};  // the first pass of the group
  std::atomic<launch_signature::groups> wanted_{0};
  std::atomic<std::uint32_t> launches_{0};
  std::atomic_flag claimed_ = ATOMIC_FLAG_INIT;
  std::atomic<bool> ended_{false}, prepared_{false}, changing_{false}, stuck_{false};
  std::atomic<bool> awaits_launch_{false};
  std::atomic<stream_state> stream_{stream_state::unknown};
  std::atomic<bool> holds_counters_{false};  // CUPTI gives them to nobody else until let_go()
  std::atomic<bool> apart_{false};
  std::atomic<bool> has_read_{false};  // in this cycle

  // With the claim alone.
  cupti_api const* api_ = nullptr;
  prepared_counters const* counters_ = nullptr;
  look_function look_;
  std::unique_ptr<range_profiler> profiler_;
  prepared_configuration const* configuration_ = nullptr;  // what it is set up for
  range_setup setup_;
  std::size_t place_ = 0;    // of the group in the configuration
  unsigned group_end_ = 0;   // the first pass after it
  bool found_work_ = false;  // the cycle before
  std::vector<reading_so_far> readings_;
  timestamp_ns opened_;
  std::uint64_t open_ns_ = 0;  // of all ranges in this pass
  std::size_t opened_range_ = 0;
  std::size_t ranges_in_pass_ = 0, expected_ = 0, ranges_at_turn_ = 0;
  std::size_t completed_ = 0;  // kinds of this pass that need no more of the group
  std::size_t quiet_turns_ = 0;
  std::uint32_t launches_at_turn_ = 0;
  std::uint64_t last_change_ = 0;    // of the configuration; monotonic
  std::uint64_t put_off_until_ = 0;  // a switch, since the stream did not run dry; monotonic
};

/// While it lives, launches in the context wait.
class context_change {
 public:
  explicit context_change(sampled_context& context) noexcept : context_(context) {
    context_.changing_.store(true, std::memory_order_release);
    context_.awaits_launch_.store(false, std::memory_order_release);
  }
  ~context_change() { context_.changing_.store(false, std::memory_order_release); }
  context_change(context_change const&) = delete;
  context_change& operator=(context_change const&) = delete;

 private:
  sampled_context& context_;
};

}  // namespace gpuprof
