// SPDX-License-Identifier: Apache-2.0
// CUPTI's PM sampling of one GPU: counts everything that runs on it, interval by interval.
#pragma once

#include "base/time.hpp"
#include "guest/counters/gpu_pauses.hpp"
#include "guest/cupti/guard.hpp"
#include "guest/metrics/planning/host_profiler.hpp"
#include "model/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::guest {

struct sampling_setup {
  counter_configuration configuration;  // for one pass
  std::vector<std::string> metrics;
  std::uint64_t interval_ns = 0;
  std::size_t hardware_buffer_bytes = 0;
  std::size_t max_samples = 0;  // maximum decoded at once; each takes twice 15 to 75 KB
  /// An interval is that many system clock cycles instead, about a nanosecond each.
  bool by_cycles = false;
  /// When the hardware's buffer is full the newest samples are lost, and decoding fails.
  bool keeps_oldest = false;
  device_id device{};            // for pauses
  gpu_pauses* pauses = nullptr;  // null: times of GPU pauses are not needed
};

/// Decoded samples: for each sample a row of values, in the order of the metrics.
struct decoded_samples {
  struct interval {
    timestamp_ns start, end;
  };
  std::vector<interval> intervals;
  std::vector<double> values;
  bool overflowed = false;  // the hardware buffer overflowed before these samples
  bool more = false;        // there was no room for all
};

/// One thread at a time.
class pm_sampling {
 public:
  /// Takes 0.2 s. Sets `busy` if it failed because another tool counts on this GPU.
  static result<std::unique_ptr<pm_sampling>> open(cupti_api const& api, device_id device,
                                                   sampling_setup setup, bool& busy);
  /// Stops and releases the counters; does nothing while the process exits.
  ~pm_sampling();
  pm_sampling(pm_sampling const&) = delete;
  pm_sampling& operator=(pm_sampling const&) = delete;

  /// Fails with `busy` while another tool or a range profiler counts on this GPU.
  result<void> start(bool& busy);
  bool started() const noexcept { return started_; }
  /// Samples up to the stop can still be decoded.
  result<void> stop();
  /// Returns the samples since the last call. `evaluator` must be for the engine sampling. Takes 10
  /// to 35 us per sample.
  result<decoded_samples> decode(host_profiler const& evaluator);

  sampling_setup const& setup() const noexcept { return setup_; }

 private:
  pm_sampling(cupti_api const& api, CUpti_PmSampling_Object* object, sampling_setup setup)
      : guard_(api), object_(object), setup_(std::move(setup)) {}
  result<void> configure(bool& busy);
  result<void> make_image();
  result<std::size_t> samples_in_image() const;
  result<void> read_sample(host_profiler const& evaluator, std::size_t index,
                           decoded_samples& to) const;

  cupti_guard guard_;
  CUpti_PmSampling_Object* object_;
  sampling_setup const setup_;
  std::vector<std::uint8_t> image_, blank_image_;
  bool started_ = false;
};

}  // namespace gpuprof::guest
