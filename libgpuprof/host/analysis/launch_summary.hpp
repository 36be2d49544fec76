// SPDX-License-Identifier: Apache-2.0
// Splits the time of each kernel since the API call that launched it: in the call, in the queue,
// running.
#pragma once

#include "host/analysis/kernel_labels.hpp"
#include "host/analysis/samples.hpp"
#include "model/records.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host {

struct launch_row {
  std::uint32_t os_thread = 0;
  device_id device{};
  std::string api;
  std::uint32_t label = 0;
  // from entering the call to the end of the kernel (or of the call, if later)
  statistics total;
  statistics api_time;  // 0 if the call was not recorded
  // from the return of the call to the start of the kernel; not if it started earlier
  statistics queued;
  statistics kernel;
};

/// The caller must add all API calls first, then all kernels.
class launch_times {
 public:
  launch_times(kernel_labels const& labels, text_of_name text);

  void add(api_record const& call);
  /// `os_thread` is the launching thread; 0: not known.
  void add(kernel_record const& kernel, std::uint32_t os_thread = 0);

  bool has_calls() const noexcept { return !calls_.empty(); }
  std::uint64_t matched() const noexcept { return matched_; }
  /// Number of kernels whose launching call is not in the trace: with known time and thread, and
  /// without.
  std::uint64_t unrecorded() const noexcept { return unrecorded_; }
  std::uint64_t without_call() const noexcept { return without_call_; }

  /// Returns rows with the longest total first.
  std::vector<launch_row> rows();

 private:
  struct api_call {
    correlation_id correlation{};
    std::uint32_t os_thread = 0;
    timestamp_ns start, end;
    name_id name{};
  };
  struct group_key {
    std::uint32_t os_thread;
    device_id device;
    std::uint32_t api;
    std::uint32_t label;
    friend auto operator<=>(group_key const&, group_key const&) = default;
  };
  struct times {
    samples total, api_time, queued, kernel;
  };
  void add(kernel_record const& kernel, api_call const& call, std::uint32_t api);
  api_call const* call_of(kernel_record const& kernel) noexcept;
  api_call const* one_of(std::size_t first, timestamp_ns start) const noexcept;
  std::uint32_t api_index(name_id name);
  std::uint32_t api_index(std::string_view name);

  kernel_labels const& labels_;
  text_of_name text_;
  std::vector<api_call> calls_;
  bool sorted_ = true;
  std::size_t hint_ = 0;
  std::uint64_t matched_ = 0;
  std::uint64_t unrecorded_ = 0, without_call_ = 0;
  std::map<group_key, times> groups_;
  std::map<std::string, std::uint32_t> api_names_;  // name without version -> number
  std::map<name_id, std::uint32_t> api_of_name_;
};

}  // namespace gpuprof::host
