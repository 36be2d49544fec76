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
  std::atomic<std::uint64_t> samples{0};    // one per interval, for any number of metrics
  std::atomic<std::uint64_t> overflows{0};  // how often samples were lost
  std::atomic<std::uint64_t> busy{0};       // windows refused because another tool was counting
};

/// Used by the worker's thread only, except counts().
class pm_sampler {
 public:
  /// Once `halted` is set CUPTI is not called any more.
  pm_sampler(cupti_api const& api, sampling_options options, std::atomic<bool> const& halted)
      : api_(api), options_(std::move(options)), halted_(halted) {}

  /// True if some GPU may be sampled now: it was not refused permanently, or recently because
  /// another tool held its counters.
  bool can_sample(std::span<device_id const> devices, std::uint64_t now_ns) const;
  /// Starts on all GPUs that can be sampled, with `interval_ns` on those that are set up for it.
  /// Returns false if none started. The first time for a GPU takes half a second and adds to
  /// `metrics`.
  bool begin_window(std::span<device_id const> devices, std::uint64_t interval_ns,
                    std::uint32_t& next_metric, std::vector<metric_record>& metrics,
                    device_counters::intern const& names);
  /// Nothing is counted any more. The samples of the window are still in the hardware's buffer.
  void stop_window();
  /// Stops the window, unless that was done, and decodes its samples.
  void end_window(sampling_results& to);
  /// Releases the counters for others, for example before cuptiFinalize. No window may be open.
  void release_all() noexcept {
    if (!halted_.load()) devices_.clear();
  }
  /// The same, but keeps the plan, so that getting the counters again takes less time.
  void release() noexcept {
    if (halted_.load()) return;
    for (auto const& [id, sampled] : devices_) sampled->release();
  }
  /// Share of the time with work in the latest window, of the busiest GPU.
  double busy_share() const noexcept;
  /// When the first GPU that is held now was set up, monotonic; 0: none is held.
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
