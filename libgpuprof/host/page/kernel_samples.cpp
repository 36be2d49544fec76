// SPDX-License-Identifier: Apache-2.0
#include "host/page/kernel_samples.hpp"

#include <algorithm>
#include <limits>

namespace gpuprof::host::page {

void kernel_samples::work(std::uint32_t device, std::uint64_t start_ns, std::uint64_t end_ns,
                          std::uint32_t kernel) {
  auto& state = devices_[device];
  settle(state, start_ns);
  state.work.push_back({start_ns, end_ns, kernel});
}

void kernel_samples::sample(std::uint32_t device, std::uint64_t start_ns, std::uint64_t duration_ns,
                            std::string_view metric, double value) {
  if (duration_ns == 0) return;
  auto& state = devices_[device];
  settle(state, start_ns);
  if (metric.ends_with(".sum")) value *= 1e9 / static_cast<double>(duration_ns);
  state.waiting.push_back({start_ns, start_ns + duration_ns, number_of(metric), value});
}

void kernel_samples::finish() {
  for (auto& [device, state] : devices_) settle(state, std::numeric_limits<std::uint64_t>::max());
}

/// All that began before `now` is known: samples that ended by then have seen all their work.
void kernel_samples::settle(device_state& device, std::uint64_t now) {
  auto const is_over = [now](auto const& one) { return one.end <= now; };
  for (auto const& one : device.waiting)
    if (is_over(one)) place(device, one);
  std::erase_if(device.waiting, is_over);
  auto const needed = device.waiting.empty() ? now : device.waiting.front().start;
  std::erase_if(device.work, [&](piece const& one) { return one.end <= std::min(now, needed); });
}

void kernel_samples::place(device_state const& device, waiting_sample const& sample) {
  piece const* alone = nullptr;
  for (auto const& one : device.work) {
    if (one.end <= sample.start || one.start >= sample.end) continue;
    if (alone != nullptr) return;
    alone = &one;
  }
  if (alone == nullptr || alone->kernel == not_watched) return;
  if (alone->start > sample.start || alone->end < sample.end) return;
  auto const middle = sample.start + (sample.end - sample.start) / 2 - alone->start;
  auto const at = static_cast<std::size_t>(static_cast<double>(middle) /
                                           static_cast<double>(alone->end - alone->start) *
                                           sample_course::positions);
  auto& course = courses_[alone->kernel][sample.metric];
  auto const position = std::min(at, sample_course::positions - 1);
  course.sum[position] += sample.value;
  ++course.samples[position];
}

std::uint32_t kernel_samples::number_of(std::string_view metric) {
  auto const known = std::find(metrics_.begin(), metrics_.end(), metric);
  if (known == metrics_.end()) {
    metrics_.emplace_back(metric);
    return static_cast<std::uint32_t>(metrics_.size() - 1);
  }
  return static_cast<std::uint32_t>(known - metrics_.begin());
}

std::vector<sample_course> kernel_samples::of(std::uint32_t kernel) const {
  std::vector<sample_course> made;
  auto const found = courses_.find(kernel);
  if (found == courses_.end()) return made;
  for (auto const& [metric, course] : found->second) {
    made.push_back(course);
    made.back().metric = metrics_[metric];
  }
  return made;
}

}  // namespace gpuprof::host::page
