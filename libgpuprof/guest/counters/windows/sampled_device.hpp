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
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::guest {

/// Where the user chooses none and kernels are short.
constexpr std::uint64_t usual_interval_ns = 20'000;

struct sampling_options {
  std::vector<std::string> words;  // sets and metrics by name; empty: the set roofline
  std::uint64_t interval_ns = usual_interval_ns;    // at first
  availability_store const* stored = nullptr;       // null: ask CUPTI each time
  device_turns* turns = nullptr;                    // null: take no turns with other processes
  std::function<std::string(device_id)> uuid = {};  // of a GPU, for the turns
  gpu_pauses* pauses = nullptr;                     // null: times of GPU pauses are not needed
};

/// One thread.
class sampled_device {
 public:
  /// Chooses metrics that fit into the one pass of sampling, and takes the counters of the GPU for
  /// sampling; half a second in total. `busy`: as below. Metrics that cannot be sampled are left
  /// out without a warning, because launches are read for them.
  static result<std::unique_ptr<sampled_device>> open(cupti_api const& api, device_id device,
                                                      sampling_options const& options,
                                                      std::uint32_t& next_metric, bool& busy);

  device_id device() const noexcept { return device_; }
  std::vector<metric_record> records(device_counters::intern const& names) const;

  /// Sets `busy` if it failed because another tool counts on this GPU.
  /// A GPU that was released is set up again, for samples every `interval_ns`.
  result<void> begin_window(std::uint64_t interval_ns, bool& busy);
  bool in_window() const noexcept { return sampling_ != nullptr && sampling_->started(); }
  /// Releases the counters of the GPU for others until the next window begins.
  void release() noexcept {
    sampling_.reset();
    auto const over = std::move(turn_);
  }
  /// Share of the time in which any SM was active, in the latest window with decoded samples; 1 if
  /// unknown.
  double busy_share() const noexcept { return busy_share_; }
  /// When its setup began, monotonic; 0: released.
  std::uint64_t held_since() const noexcept { return sampling_ != nullptr ? held_since_ : 0; }
  void stop_window();
  bool is_ending() const noexcept { return stopped_.has_value(); }
  /// Call it after stop_window(). Decodes the samples until `deadline_ns` (monotonic) or `halted`.
  /// Samples that are not decoded by then count as an overflow.
  result<void> end_window(sampling_results& to, std::uint64_t deadline_ns,
                          std::atomic<bool> const& halted);

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
  sampling_setup setup_;
  device_turns* turns_ = nullptr;
  std::string gpu_;                        // its UUID, if turns are taken
  device_turn turn_;                       // held as long as sampling is set up
  std::unique_ptr<pm_sampling> sampling_;  // null: released
  std::uint64_t held_since_ = 0;           // monotonic
  std::vector<metric_id> ids_;
  sampling_window_record window_;
  bool first_is_due_ = false;       // the sample that begins long before its window
  std::uint64_t busy_samples_ = 0;  // in this window
  double busy_share_ = 1;
  std::optional<result<void>> stopped_;  // the window, whose samples are not decoded yet
};

}  // namespace gpuprof::guest
