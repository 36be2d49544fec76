// SPDX-License-Identifier: Apache-2.0
// Follows each kernel from the API call that launched it: time in the call, in the queue, running.
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
  statistics total;     // call entered until kernel ended (or call returned, if that was later)
  statistics api_time;  // 0 where the call was not recorded
  statistics queued;  // call returned until kernel started; kernels that started earlier have none
  statistics kernel;
};

/// Feed all API calls first, then all kernels.
class launch_times {
 public:
  launch_times(kernel_labels const& labels, text_of_name text);

  void add(api_record const& call);
  /// `os_thread`: where it was launched; 0: not known.
  void add(kernel_record const& kernel, std::uint32_t os_thread = 0);

  bool has_calls() const noexcept { return !calls_.empty(); }
  std::uint64_t matched() const noexcept { return matched_; }
  /// These count kernels whose launching call is not in the trace: its time and thread are known,
  /// or not even these.
  std::uint64_t unrecorded() const noexcept { return unrecorded_; }
  std::uint64_t without_call() const noexcept { return without_call_; }

  /// Longest total first.
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
  std::map<std::string, std::uint32_t> api_names_;  // without version -> number
  std::map<name_id, std::uint32_t> api_of_name_;
};

}  // namespace gpuprof::host
