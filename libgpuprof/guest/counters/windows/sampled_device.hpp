// SPDX-License-Identifier: Apache-2.0
// One GPU that is sampled in windows of time: its metrics, and the samples of each window.
#pragma once

#include "guest/counters/device_turn.hpp"
#include "guest/counters/launches/device_counters.hpp"
#include "guest/counters/windows/pm_sampling.hpp"
#include "guest/metrics/availability_store.hpp"
#include "model/record_sink.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::guest {

struct sampling_options {
  std::vector<std::string> words;  // sets and metrics by name; empty: the set roofline
  std::uint64_t interval_ns = 20'000;
  availability_store const* stored = nullptr;       // null: CUPTI is asked each time
  device_turns* turns = nullptr;                    // null: no other process is looked at
  std::function<std::string(device_id)> uuid = {};  // of a GPU, for the turns
  gpu_pauses* pauses = nullptr;                     // null: nobody asks when the GPU stood still
};

/// One thread.
class sampled_device {
 public:
  /// Chooses what fits into the one pass that sampling has, and takes the counters of the GPU for
  /// sampling; half a second in all. `busy`: as below. What cannot be sampled is left out without a
  /// word: launches are read for the rest.
  static result<std::unique_ptr<sampled_device>> open(cupti_api const& api, device_id device,
                                                      sampling_options const& options,
                                                      std::uint32_t& next_metric, bool& busy);

  device_id device() const noexcept { return device_; }
  std::vector<metric_record> records(device_counters::intern const& names) const;

  /// `busy`: it failed because somebody else counts on this GPU.
  result<void> begin_window(bool& busy);
  bool in_window() const noexcept { return sampling_ != nullptr && sampling_->started(); }
  /// The counters of the GPU are anybody's until the next window begins.
  void release() noexcept {
    sampling_.reset();
    auto const over = std::move(turn_);
  }
  /// In the latest window of which something was decoded, for what share of the time any SM was at
  /// work; 1 where that is not known.
  double busy_share() const noexcept { return busy_share_; }
  /// Since its set-up began, monotonic; 0: it was released.
  std::uint64_t held_since() const noexcept { return sampling_ != nullptr ? held_since_ : 0; }
  /// Decodes what has come so far.
  result<void> collect(sampling_results& to);
  /// Stops, and decodes the rest, until `deadline_ns` (monotonic) or `halted` at most: what has not
  /// come by then is counted as an overflow.
  result<void> end_window(sampling_results& to, std::uint64_t deadline_ns,
                          std::atomic<bool> const& halted);
  /// It has ended by a failure: what came is kept.
  void cut_window(sampling_results& to);

 private:
  static result<std::unique_ptr<sampled_device>> set_up(cupti_api const& api, device_id device,
                                                        sampling_options const& options,
                                                        availability_image availability,
                                                        bool& busy);
  sampled_device(cupti_api const& api, device_id device, host_profiler evaluator,
                 sampling_setup setup, std::unique_ptr<pm_sampling> sampling,
                 std::uint64_t held_since)
      : api_(api),
        device_(device),
        evaluator_(std::move(evaluator)),
        setup_(std::move(setup)),
        sampling_(std::move(sampling)),
        held_since_(held_since) {}
  static result<device_turn> turn_at(device_turns* turns, std::string const& gpu, bool& busy);
  result<bool> decode_once(sampling_results& to);
  bool is_too_long(decoded_samples::interval const& sample) const noexcept;
  void keep(decoded_samples const& decoded, sampling_results& to);
  void note_activity(decoded_samples const& decoded, std::span<std::size_t const> good);

  cupti_api const& api_;
  device_id const device_;
  host_profiler evaluator_;
  sampling_setup const setup_;
  device_turns* turns_ = nullptr;
  std::string gpu_;                        // its UUID, where turns are taken
  device_turn turn_;                       // for as long as sampling is held
  std::unique_ptr<pm_sampling> sampling_;  // null: released
  std::uint64_t held_since_ = 0;           // monotonic
  std::vector<metric_id> ids_;
  sampling_window_record window_;
  bool first_is_due_ = false;       // the sample that begins long before its window
  std::uint64_t busy_samples_ = 0;  // of the window
  double busy_share_ = 1;
};

}  // namespace gpuprof::guest
