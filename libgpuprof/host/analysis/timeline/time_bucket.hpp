// SPDX-License-Identifier: Apache-2.0
// What a nanosecond of a GPU was spent on: each is in exactly one bucket.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gpuprof::host {

enum class time_bucket : std::uint8_t {
  compute,
  compute_and_communication,  // at once
  communication,              // alone
  transfer,                   // copies and fills alone
  back_to_back,               // the GPU's own pause between two kernels that were both queued
  dependency,       // the work was queued and waited: for an event, another stream, a copy
  synchronization,  // the program waited for the GPU, and then issued more
  allocation,
  module_load,
  graph_build,
  launch_bound,  // the thread launched as fast as it does, and the GPU was faster
  data_loading,
  between_steps,
  cpu_work,       // of the program, outside CUDA
  host_unknown,   // for the host, of which no calls were recorded
  start_up,       // before the first work of this GPU
  nothing_to_do,  // after its last
  profiler,       // this one
};
inline constexpr std::size_t time_bucket_count =
    static_cast<std::size_t>(time_bucket::profiler) + 1;

/// As reports print it: "compute", "idle: launch-bound".
std::string_view name_of(time_bucket bucket) noexcept;
/// In one sentence, for whoever reads it the first time.
std::string_view meaning_of(time_bucket bucket) noexcept;
constexpr bool is_idle(time_bucket bucket) noexcept {
  return bucket >= time_bucket::back_to_back && bucket != time_bucket::profiler;
}

/// Nanoseconds in each.
class bucket_times {
 public:
  double& operator[](time_bucket b) noexcept { return ns_[static_cast<std::size_t>(b)]; }
  double operator[](time_bucket b) const noexcept { return ns_[static_cast<std::size_t>(b)]; }
  bucket_times& operator+=(bucket_times const& other) noexcept {
    for (std::size_t i = 0; i < ns_.size(); ++i) ns_[i] += other.ns_[i];
    return *this;
  }
  double total() const noexcept {
    double sum = 0;
    for (auto const ns : ns_) sum += ns;
    return sum;
  }
  double idle() const noexcept {
    double sum = 0;
    for (std::size_t i = 0; i < ns_.size(); ++i)
      if (is_idle(static_cast<time_bucket>(i))) sum += ns_[i];
    return sum;
  }
  double busy() const noexcept { return total() - idle() - (*this)[time_bucket::profiler]; }

 private:
  std::array<double, time_bucket_count> ns_{};
};

}  // namespace gpuprof::host
