// Reads counters around chosen launches of the program, without replay, within a budget.
#pragma once

#include "counters/launches/device_counters.hpp"
#include "counters/launches/launch_kinds.hpp"
#include "counters/launches/launch_safety.hpp"
#include "counters/launches/record_pause.hpp"
#include "counters/launches/sampled_context.hpp"
#include "counters/sampling_budget.hpp"
#include "driver/cuda_driver.hpp"
#include "model/launch_remark.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gpuprof {

struct sampler_wishes {
  bool every_launch = false;       // one pass around each launch, instead of each kind once
  std::vector<std::string> words;  // sets and metrics by name; empty: the set roofline
  /// Kernels (mangled) around which nothing is ever read: they wait for other launches.
  std::function<bool(char const*)> skips;
  /// Off and on again: while kernels are recorded, what CUPTI counts by rewriting them reads 0.
  /// False from the first: not now, and nothing is to be undone.
  std::function<bool()> pause_kernel_records;
  std::function<void()> resume_kernel_records;
};

/// What was not read, and why. Launches, as all below.
struct sampler_counts {
  std::atomic<std::uint64_t> sampled{0};
  std::atomic<std::uint64_t> failed{0};         // CUPTI refused, or the launch failed
  std::atomic<std::uint64_t> missed{0};         // another thread launched meanwhile
  std::atomic<std::uint64_t> unrecorded{0};     // read without a kernel record of their own
  std::atomic<std::uint64_t> not_rewritten{0};  // CUPTI counted no instruction: nothing was read
  std::atomic<std::uint64_t> busy{0};           // the stream had too much to do before
  std::atomic<std::uint64_t> abandoned{0};      // did not end in time
  std::atomic<std::uint64_t> cooperative{0};    // and others whose call cannot be read
  std::atomic<std::uint64_t> by_name{0};        // on the skip list
  std::atomic<std::uint64_t> capturing{0};      // while a graph was under construction
  std::atomic<std::uint64_t> graphs{0};         // may hold such kernels, or are changed as they are
  std::atomic<std::uint64_t> beside_skipped{0};  // just after a kernel on the skip list
  std::atomic<std::uint64_t> in_use{0};          // while another launch was read on that GPU
  std::atomic<std::uint64_t> over_budget{0};
  std::atomic<std::uint64_t> unknown{0};  // more kinds of launches than the table holds
};

enum class turn_kind {
  usual,
  closing,         // nothing is to be left in the counters, unless a stream is being captured
  closing_anyhow,  // not even then
};

/// One per process, never destroyed.
class launch_sampler {
 public:
  /// `budget`, `next_metric`, the id of the next metric, and `halted` live as long as it. Once
  /// `halted` is set CUPTI is not called any more.
  launch_sampler(cupti_api const& api, cuda_driver const& driver, sampler_wishes wishes,
                 sampling_budget& budget, std::uint32_t& next_metric,
                 std::atomic<bool> const& halted);

  // Launching threads, inside CUPTI's callbacks ------------------------------

  /// Before the driver call; left() must follow on this thread after it.
  void entered(launch_call_kind kind, CUpti_CallbackData const& call) noexcept;
  launch_remark left(CUpti_CallbackData const& call, bool gets_record) noexcept;
  void capture_begins() noexcept;
  void capture_ends() noexcept { safety_.capture_ends(); }
  void graph_changes() noexcept { safety_.note_changed_graph(); }
  /// A context is about to be destroyed, and then it is.
  void context_ending() noexcept;
  void context_ended() noexcept {
    safety_.context_ended();
    kinds_.forget_handles();
  }
  void code_unloads() noexcept { kinds_.forget_handles(); }

  // Whoever switches captures ------------------------------------------------

  void resume() noexcept;
  /// Callbacks were off until now.
  void callbacks_begin() noexcept {
    safety_.forget_begins();
    kinds_.forget_handles();
  }
  void pause() noexcept { on_.store(false, std::memory_order_release); }

  // The worker's thread ------------------------------------------------------

  /// Prepares new contexts, changes groups, evaluates what was counted. Adds to both lists.
  void turn(turn_kind how, std::vector<metric_record>& metrics,
            std::vector<launch_counters>& launches, device_counters::intern const& names);
  /// Some launch has passes to run, or has just been read.
  bool wants_turn() noexcept;
  /// Of readings, which would be lost.
  bool is_in_midst() const noexcept;
  /// After a closing turn: nothing is being counted.
  bool is_parked() const noexcept;
  /// After that: CUPTI gives the counters to others, too. Having them again costs some 0.2 s.
  void let_go() noexcept;
  bool holds_counters() const noexcept;
  bool must_not_switch() const noexcept {
    return safety_.is_capturing() || safety_.is_ending_context();
  }
  /// All that the process has made while counters were on.
  std::uint32_t launches() const noexcept { return launches_.load(std::memory_order_relaxed); }
  bool has_given_up() const noexcept { return given_up_.load(std::memory_order_acquire); }
  /// Gives the counters back, as before cuptiFinalize; what was counted comes with the next turn.
  void end() noexcept;
  /// Lines for the log since the last call.
  std::vector<std::string> take_complaints();

  sampler_counts const& counts() const noexcept { return counts_; }
  /// How many kinds of launches have been read in full. Not for every_launch, which has no kinds.
  launch_signatures::tally kinds() const noexcept { return kinds_.count(all_groups_.load()); }

 private:
  static constexpr std::size_t most_contexts = 64;

  void choose(launch_call_kind kind, CUpti_CallbackData const& call) noexcept;
  void note_arguments(launch_call_kind kind, CUpti_CallbackData const& call) noexcept;
  launch_signature* kind_of(launch_parameters const& launch,
                            CUpti_CallbackData const& call) noexcept;
  void turn(sampled_context& context, turn_kind how, std::vector<metric_record>& metrics,
            std::vector<launch_counters>& launches, device_counters::intern const& names);
  void stop_for_good(char const* why) noexcept;
  bool knows_several_gpus() const noexcept;
  void end(sampled_context& context, bool for_good) noexcept;
  sampled_context* context_of(CUpti_CallbackData const& call) noexcept;
  bool may_be_read(launch_signature& kind, CUpti_CallbackData const& call) noexcept;
  launch_signature::groups missing(launch_signature& signature) noexcept;
  bool is_safe(CUstream stream) noexcept;
  bool open(sampled_context& context, int group, launch_signature& signature,
            CUstream stream) noexcept;
  void wait_until_counting(sampled_context& context) noexcept;
  void wait_for_change(sampled_context& context) noexcept;
  void turn_at_once(sampled_context& context) noexcept;
  void let_run_dry(sampled_context& context) noexcept;
  void keep(sampled_context& context, std::vector<sampled_context::batch> finished,
            std::string failure = {}) noexcept;
  bool open_range(sampled_context& context, launch_signature& signature) noexcept;
  void close(sampled_context& context, launch_signature* signature,
             CUpti_CallbackData const& call) noexcept;
  bool may_go_unrecorded(launch_signature const& signature) noexcept;
  void become_pattern(launch_signature const& signature, launch_signature::groups wanted) noexcept;
  launch_remark unrecorded() noexcept;
  launch_remark finish(CUpti_CallbackData const& call, bool gets_record) noexcept;

  device_counters const* counters_of(sampled_context& context, std::vector<metric_record>& metrics,
                                     device_counters::intern const& names);
  void prepare(sampled_context& context, std::vector<metric_record>& metrics,
               device_counters::intern const& names);
  void leave_out(launch_signature::groups patching);
  void evaluate(sampled_context& context, sampled_context::batch const& batch,
                std::vector<launch_counters>& launches);
  void give_up(std::string why);

  cupti_api const& api_;
  sampler_wishes const wishes_;
  sampling_budget& budget_;
  sampler_counts counts_;
  launch_safety safety_;
  std::atomic<bool> const& halted_;
  launch_kinds kinds_;
  std::atomic<bool> on_{false};
  std::atomic<std::uint32_t> capture_{0};  // number of it
  std::atomic<bool> given_up_{false};
  std::atomic<launch_signature::groups> all_groups_{0};
  std::atomic<std::uint64_t> not_before_{0};           // after a queue that did not run dry
  std::atomic<launch_signature::groups> patching_{0};  // which groups rewrite kernels
  std::atomic<std::uint32_t> launches_{0};             // of the process
  record_pause records_;
  std::function<bool()> const is_interrupted_ = [this] {
    return must_not_switch() || !on_.load(std::memory_order_acquire) || halted_.load();
  };
  std::array<std::atomic<sampled_context*>, most_contexts> contexts_{};

  // The worker's thread alone.
  std::map<device_id, device_counters> devices_;
  std::uint32_t& next_metric_;
  std::uint64_t sampled_before_ = 0;
  bool some_were_rewritten_ = false;
  launch_signature::groups left_out_ = 0;  // that would rewrite kernels
  std::vector<std::string> complaints_;

  // What other threads have taken from the counters, until the worker's thread takes it.
  std::atomic_flag ended_claim_ = ATOMIC_FLAG_INIT;
  std::vector<std::pair<sampled_context*, sampled_context::batch>> ended_;
  std::string failure_;                                // empty: none
  std::atomic<char const*> stopped_because_{nullptr};  // not said yet
};

}  // namespace gpuprof
