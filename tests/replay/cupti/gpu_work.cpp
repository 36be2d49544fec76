// SPDX-License-Identifier: Apache-2.0
#include "replay/cupti/gpu_work.hpp"

#include "base/time.hpp"
#include "replay/cupti/counter_hardware.hpp"
#include "replay/format/record_fields.hpp"

#include <algorithm>
#include <cstring>

namespace gpuprof::replay {
namespace {

void add_share(counts& sum, counts const& added, double share) {
  for (std::size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += share * added.values[i];
}

}  // namespace

gpu_work& gpu_work::get() noexcept {
  static auto* const one = new gpu_work;
  return *one;
}

void gpu_work::call_begins(std::uint32_t correlation) noexcept {
  std::lock_guard const hold(lock_);
  calls_[correlation] = read_clock(CLOCK_REALTIME);
}

void gpu_work::call_ends(std::uint32_t correlation) noexcept {
  std::lock_guard const hold(lock_);
  calls_.erase(correlation);
}

void gpu_work::note_record(activity const& given) noexcept {
  if (kind_of_record(given.bytes) != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) return;
  CUpti_ActivityKernel10 k{};
  std::memcpy(&k, given.bytes, sizeof k);
  if (k.start == 0) return;  // the recorder lost its times
  kernel noted{k.deviceId, k.start, k.end, counts_of(run_of(k, true), sms_of(k.deviceId), false)};
  noted.counted[counter::time_ns] = noted.counted[counter::sm_cycles] = 0;
  std::lock_guard const hold(lock_);
  if (auto const reader = readers_.find(noted.device);
      reader != readers_.end() && k.start < reader->second.read_until) {
    ++late_;
  }
  kernels_.push_back(noted);
  if (kernels_.size() >= forget_at_) forget_old();
}

void gpu_work::forget_old() {
  auto const now = read_clock(CLOCK_REALTIME);
  std::erase_if(kernels_, [&](kernel const& k) {
    auto const reader = readers_.find(k.device);
    return k.end < (reader != readers_.end() ? reader->second.keep_from : now);
  });
  forget_at_ = std::max<std::size_t>(1024, 2 * kernels_.size());
}

std::uint64_t gpu_work::known_until() {
  constexpr std::uint64_t max_call = 1'000'000'000;  // one of which no end was recorded
  std::lock_guard const hold(lock_);
  auto const now = read_clock(CLOCK_REALTIME);
  auto until = now;
  for (auto const& [correlation, began] : calls_) {
    if (began + max_call > now) until = std::min(until, began);
  }
  return until;
}

void gpu_work::keep_from(std::size_t device, std::uint64_t moment) {
  std::lock_guard const hold(lock_);
  readers_[device].keep_from = moment;
}

void gpu_work::release(std::size_t device) {
  std::lock_guard const hold(lock_);
  readers_.erase(device);
}

void gpu_work::add_to(std::span<counts> samples, std::size_t device, std::uint64_t begin,
                      std::uint64_t interval) {
  auto const end = begin + samples.size() * interval;
  std::lock_guard const hold(lock_);
  for (auto const& k : kernels_) {
    if (k.device != device || k.start >= end || k.end < begin) continue;
    auto const length = static_cast<double>(k.end - k.start);
    auto i = k.start > begin ? (k.start - begin) / interval : 0;
    do {
      auto const from = begin + i * interval;
      auto const overlap = std::min(k.end, from + interval) - std::max(k.start, from);
      add_share(samples[i], k.counted, length > 0 ? static_cast<double>(overlap) / length : 1);
      ++i;
    } while (i < samples.size() && begin + i * interval < k.end);
  }
  readers_[device].read_until = end;
}

std::uint64_t gpu_work::late() {
  std::lock_guard const hold(lock_);
  return late_;
}

}  // namespace gpuprof::replay
