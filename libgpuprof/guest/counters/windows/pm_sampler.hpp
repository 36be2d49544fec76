// SPDX-License-Identifier: Apache-2.0
// Samples all GPUs of the program in windows of time.
#pragma once

#include "guest/counters/windows/sampled_device.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::guest {

/// Any thread reads them.
struct sampling_counts {
  std::atomic<std::uint64_t> windows{0};
  std::atomic<std::uint64_t> samples{0};    // one for each interval, whatever the number of metrics
  std::atomic<std::uint64_t> overflows{0};  // samples are missing
  std::atomic<std::uint64_t> busy{0};       // windows that did not begin: another tool was counting
};

/// The worker's thread, but for counts().
class pm_sampler {
 public:
  /// Once `halted` is set CUPTI is not called any more.
  pm_sampler(cupti_api const& api, sampling_options options, std::atomic<bool> const& halted)
      : api_(api), options_(std::move(options)), halted_(halted) {}

  /// Some GPU may be sampled now: it was not refused for good, and no other tool had its counters
  /// a moment ago.
  bool can_sample(std::span<device_id const> devices, std::uint64_t now_ns) const;
  /// Starts on all of them that can. False when none did. Each is prepared the first time, which
  /// takes half a second and adds to `metrics`.
  bool begin_window(std::span<device_id const> devices, std::uint32_t& next_metric,
                    std::vector<metric_record>& metrics, device_counters::intern const& names);
  /// Takes what has come so far.
  void collect(sampling_results& to);
  void end_window(sampling_results& to);
  /// The counters are anybody's again, as before cuptiFinalize. No window may be open.
  void release_all() noexcept {
    if (!halted_.load()) devices_.clear();
  }
  /// The same, but what was planned stays: having the counters again takes less.
  void release() noexcept {
    if (halted_.load()) return;
    for (auto const& [id, sampled] : devices_) sampled->release();
  }
  /// Of the GPU that was busiest in its latest window: the share of the time with work.
  double busy_share() const noexcept;
  /// When the first of those was set up that are held now, monotonic; 0: none is.
  std::uint64_t held_since() const noexcept;
  std::vector<std::string> take_warnings() { return std::exchange(warnings_, {}); }

  sampling_counts const& counts() const noexcept { return counts_; }

 private:
  struct refusal {
    bool for_good = false;
    std::uint64_t until_ns = 0;  // monotonic
  };
  sampled_device* prepared(device_id device, std::uint32_t& next_metric,
                           std::vector<metric_record>& metrics,
                           device_counters::intern const& names);
  using device_list = std::map<device_id, std::unique_ptr<sampled_device>>;
  device_list::iterator lose(device_list::iterator at, std::string const& why);
  void refuse(device_id device, bool busy, std::string const& why);
  void note(sampling_window_record const& window);

  cupti_api const& api_;
  sampling_options const options_;
  std::atomic<bool> const& halted_;
  sampling_counts counts_;
  device_list devices_;
  std::map<device_id, refusal> refusals_;
  std::vector<std::string> warnings_;
};

}  // namespace gpuprof::guest
