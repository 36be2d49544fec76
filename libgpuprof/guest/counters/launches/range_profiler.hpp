// SPDX-License-Identifier: Apache-2.0
// CUPTI's range profiler on one context: counts what runs between push and pop.
#pragma once

#include "guest/cupti/guard.hpp"
#include "guest/metrics/planning/host_profiler.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::guest {

/// The configuration of one range profiler, and an empty image for its results. Made once.
struct range_setup {
  counter_configuration configuration;
  std::vector<std::string> metrics;
  std::size_t max_ranges = 0;             // in one pass
  std::vector<std::uint8_t> empty_image;  // of counter data
};

/// Counted results: an image for host_profiler::evaluate().
struct counted_ranges {
  std::vector<std::uint8_t> image;
  std::vector<std::string> names;  // by index in the image
  std::size_t dropped = 0;         // ranges beyond max_ranges
};

/// One thread at a time; it may be any thread.
class range_profiler {
 public:
  static result<std::unique_ptr<range_profiler>> open(cupti_api const& api, CUcontext context);
  /// Stops and releases the counters; does nothing while the process exits.
  ~range_profiler();
  range_profiler(range_profiler const&) = delete;
  range_profiler& operator=(range_profiler const&) = delete;

  result<range_setup> make_setup(counter_configuration configuration,
                                 std::vector<std::string> metrics, std::size_t max_ranges) const;

  /// Prepares a pass of a setup, which must live until decode(). Discards what was counted before.
  /// The pass is the first one, unless not all passes of the setup have been run: CUPTI counts
  /// passes itself, and starts again after all have been submitted.
  result<void> configure(range_setup const& setup);
  /// Prepares the next pass of the same setup. Ranges are identified by their names: each must be
  /// used again in every pass.
  result<void> configure_next_pass();
  /// Starts counting what was readied.
  result<void> start();
  bool started() const noexcept { return started_; }

  /// Waits for what runs on the GPU. `name` is copied by CUPTI.
  bool push(char const* name) noexcept;
  /// Waits until what was launched since push() has ended.
  bool pop() noexcept;

  /// True when all passes of the setup have been started and stopped.
  result<bool> stop();
  /// Call it after the last pass has been stopped.
  result<counted_ranges> decode();
  /// The context has ended: CUPTI is not called any more.
  void abandon() noexcept { object_ = nullptr; }

 private:
  range_profiler(cupti_api const& api, CUpti_RangeProfiler_Object* object)
      : guard_(api), object_(object) {}
  result<void> configure();
  result<std::size_t> decode_data();
  result<std::vector<std::string>> range_names();

  cupti_guard guard_;
  CUpti_RangeProfiler_Object* object_;
  range_setup const* setup_ = nullptr;
  std::vector<std::uint8_t> image_;
  std::size_t pass_ = 0, nesting_level_ = 1;
  bool started_ = false;
};

}  // namespace gpuprof::guest
