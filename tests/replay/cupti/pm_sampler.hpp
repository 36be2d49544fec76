// SPDX-License-Identifier: Apache-2.0
// The replayed GPUs' samplers: what may be called when, and what each sample has counted.
#pragma once

#include "replay/cupti/counter_images.hpp"
#include "replay/cupti/sample_buffer.hpp"
#include "replay/cupti/sample_images.hpp"

#include <cupti_pmsampling.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <span>

namespace gpuprof::replay {

/// Of a sample in the hardware's buffer; made up.
inline constexpr std::size_t bytes_of_raw_sample = 4096;
/// So long before the start the first sample begins, as on a GPU: nobody reset its counters.
inline constexpr std::uint64_t stale_ns = 1'000'000'000;
inline constexpr std::uint64_t too_long_ns = 206'000'000;  // beyond its interval

/// An object of one device: enabled, set up, started.
class sampling_session {
 public:
  explicit sampling_session(std::size_t device) : device_(device) {}
  std::size_t device() const noexcept { return device_; }
  bool is_started() const noexcept { return started_; }

  CUptiResult set_up(CUpti_PmSampling_SetConfig_Params const&);
  CUptiResult start();
  void stop();
  CUptiResult decode(CUpti_PmSampling_DecodeData_Params&);
  void log_end() const;

  std::atomic_flag in_use = ATOMIC_FLAG_INIT;  // one thread at a time
  bool gone = false;                           // CUPTI has given up; under the lock of all

 private:
  void add_samples(std::span<std::uint8_t> image, sample_buffer::samples);

  std::size_t const device_;
  pass_schedule schedule_;
  sample_buffer::setup wanted_;
  sample_buffer buffer_;
  bool set_up_ = false, started_ = false, was_started_ = false;
  std::uint64_t sampled_ = 0, decoded_ = 0;
};

/// All objects of the process, one of a device.
class pm_sampler {
 public:
  static pm_sampler& get() noexcept;

  CUptiResult enable(std::size_t device, CUpti_PmSampling_Object** object);
  /// Ends the process when the object was disabled or when another thread uses it right now; null
  /// when it never was one, or CUPTI has given up.
  sampling_session* use(CUpti_PmSampling_Object*, char const* function);
  void disable(sampling_session&);

  // From the library --------------------------------------------------------
  void finalized();
  void gave_up();

 private:
  std::mutex lock_;                                  // protects the next
  std::set<sampling_session*> sessions_, disabled_;  // never freed: a late use shall be seen
};

}  // namespace gpuprof::replay
