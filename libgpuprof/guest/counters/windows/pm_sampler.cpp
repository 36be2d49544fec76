// SPDX-License-Identifier: Apache-2.0
#include "guest/counters/windows/pm_sampler.hpp"

#include "base/fork_guard.hpp"
#include "base/ledger.hpp"
#include "base/process.hpp"
#include "base/time.hpp"
#include "guest/counters/counter_access.hpp"

#include <algorithm>
#include <iterator>

namespace gpuprof::guest {
namespace {

// Another tool holds the counters; it may finish at some time.
constexpr std::uint64_t refusal_holds_ns = 10'000'000'000;
// Decoding takes about 30 us per sample; a window has 2500 samples.
constexpr std::uint64_t patience_ns = 1'000'000'000;  // for all GPUs together
constexpr std::uint64_t patience_at_exit_ns = 200'000'000;

}  // namespace

bool pm_sampler::can_sample(std::span<device_id const> devices, std::uint64_t now_ns) const {
  return std::any_of(devices.begin(), devices.end(), [&](device_id device) {
    auto const refused = refusals_.find(device);
    return refused == refusals_.end() ||
           (!refused->second.for_good && now_ns >= refused->second.until_ns);
  });
}

void pm_sampler::refuse(device_id device, bool busy, std::string const& why) {
  auto const [at, is_first] = refusals_.try_emplace(device);
  at->second = {!busy, monotonic_ns() + refusal_holds_ns};
  if (busy) count(counts_.busy);
  if (is_first || !busy)
    warnings_.push_back("GPU " + std::to_string(raw(device)) + ": " + why +
                        (busy ? "; asked again every 10 s" : ""));
}

sampled_device* pm_sampler::prepared(device_id device, std::uint32_t& next_metric,
                                     std::vector<metric_record>& metrics,
                                     device_counters::intern const& names) {
  if (auto const known = devices_.find(device); known != devices_.end()) return &*known->second;
  bool busy = false;
  auto opened = sampled_device::open(api_, device, options_, next_metric, busy);
  if (!opened) {
    refuse(device, busy, opened.message());
    return nullptr;
  }
  for (auto const& record : (*opened)->records(names)) metrics.push_back(record);
  return devices_.emplace(device, std::move(*opened)).first->second.get();
}

bool pm_sampler::begin_window(std::span<device_id const> devices, std::uint64_t interval_ns,
                              std::uint32_t& next_metric, std::vector<metric_record>& metrics,
                              device_counters::intern const& names) {
  bool any = false;
  for (auto const device : devices) {
    if (halted_.load() || process_is_exiting()) break;
    if (!can_sample({&device, 1}, monotonic_ns())) continue;
    fork_guard const guard;
    auto* const sampled = prepared(device, next_metric, metrics, names);
    if (sampled == nullptr) continue;
    bool busy = false;
    if (auto const ok = sampled->begin_window(interval_ns, busy)) {
      any = true;
      refusals_.erase(device);
    } else {
      refuse(device, busy, ok.message());
      if (!busy) devices_.erase(device);
    }
  }
  return any;
}

std::uint64_t pm_sampler::held_since() const noexcept {
  std::uint64_t first = 0;
  for (auto const& [id, sampled] : devices_) {
    auto const since = sampled->held_since();
    if (since != 0 && (first == 0 || since < first)) first = since;
  }
  return first;
}

double pm_sampler::busy_share() const noexcept {
  double share = devices_.empty() ? 1 : 0;
  for (auto const& [id, sampled] : devices_) share = std::max(share, sampled->busy_share());
  return share;
}

void pm_sampler::note(sampling_window_record const& window) {
  count(counts_.windows);
  count(counts_.samples, window.samples);
  count(counts_.overflows, window.overflows);
}

void pm_sampler::stop_window() {
  for (auto const& [id, sampled] : devices_)
    if (sampled->in_window() && !halted_.load()) sampled->stop_window();
}

// All GPUs are stopped first: decoding the samples of one takes longer than a window.
void pm_sampler::end_window(sampling_results& to) {
  stop_window();
  auto const deadline = monotonic_ns() + (process_is_exiting() ? patience_at_exit_ns : patience_ns);
  for (auto at = devices_.begin(); at != devices_.end() && !halted_.load();) {
    if (!at->second->is_ending()) {
      ++at;
      continue;
    }
    auto const ok = at->second->end_window(to, deadline, halted_);
    note(to.windows.back());
    at = ok ? std::next(at) : lose(at, ok.message());
  }
}

/// CUPTI has failed during a window: releases its object; the GPU is not sampled again.
pm_sampler::device_list::iterator pm_sampler::lose(device_list::iterator at,
                                                   std::string const& why) {
  refuse(at->first, false, is_off(counter_engine::sampling) + why);
  return devices_.erase(at);
}

}  // namespace gpuprof::guest
