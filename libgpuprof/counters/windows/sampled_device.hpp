// One GPU that is sampled in windows of time: its metrics, and the samples of each window.
#pragma once

#include "counters/launches/device_counters.hpp"
#include "counters/windows/pm_sampling.hpp"
#include "model/records.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gpuprof {

struct sampling_wishes {
  std::vector<std::string> words;  // sets and metrics by name; empty: the set roofline
  std::uint64_t interval_ns = 20'000;
};

/// What sampling gave.
struct sampling_harvest {
  std::vector<sampling_window_record> windows;
  std::vector<metric_sample_record> samples;  // metric by metric
};

/// One thread.
class sampled_device {
 public:
  /// Chooses what fits into the one pass that sampling has, and takes the counters of the GPU for
  /// sampling; half a second in all. `busy`: as below. What cannot be sampled is left out without a
  /// word: launches are read for the rest.
  static result<std::unique_ptr<sampled_device>> open(cupti_api const& api, device_id device,
                                                      sampling_wishes const& wishes,
                                                      std::uint32_t& next_metric, bool& busy);

  device_id device() const noexcept { return device_; }
  std::vector<metric_record> records(device_counters::intern const& names) const;

  /// `busy`: it failed because somebody else counts on this GPU.
  result<void> begin_window(bool& busy);
  bool in_window() const noexcept { return sampling_ != nullptr && sampling_->started(); }
  /// The counters of the GPU are anybody's until the next window begins.
  void let_go() noexcept { sampling_.reset(); }
  /// Since its set-up began, monotonic; 0: it was let go.
  std::uint64_t held_since() const noexcept { return sampling_ != nullptr ? held_since_ : 0; }
  /// Decodes what has come so far.
  result<void> collect(sampling_harvest& to);
  /// Stops, and decodes the rest, until `deadline_ns` (monotonic) or `halted` at most: what has not
  /// come by then is counted as an overflow.
  result<void> end_window(sampling_harvest& to, std::uint64_t deadline_ns,
                          std::atomic<bool> const& halted);
  /// It has ended by a failure: what came is kept.
  void cut_window(sampling_harvest& to);

 private:
  sampled_device(cupti_api const& api, device_id device, host_profiler evaluator,
                 sampling_setup setup, std::unique_ptr<pm_sampling> sampling,
                 std::uint64_t held_since)
      : api_(api),
        device_(device),
        evaluator_(std::move(evaluator)),
        setup_(std::move(setup)),
        sampling_(std::move(sampling)),
        held_since_(held_since) {}
  result<bool> decode_once(sampling_harvest& to);
  void keep(decoded_samples const& decoded, sampling_harvest& to);

  cupti_api const& api_;
  device_id const device_;
  host_profiler evaluator_;
  sampling_setup const setup_;
  std::unique_ptr<pm_sampling> sampling_;  // null: let go
  std::uint64_t held_since_ = 0;           // monotonic
  std::vector<metric_id> ids_;
  sampling_window_record window_;
  bool first_is_due_ = false;  // the sample that begins long before its window
};

}  // namespace gpuprof
