// SPDX-License-Identifier: Apache-2.0
// How nsys names moments, processes, threads, kinds of memory.
#pragma once

#include "host/reading/trace_contents.hpp"

#include <cstdint>
#include <map>
#include <optional>

namespace gpuprof {

/// Moments count from the start of the session. A process and a thread have 24 bits each, below the
/// number of a virtual machine: 1 for the host, as nsys writes it.
class nsys_terms {
 public:
  static constexpr std::int64_t host = std::int64_t{1} << 48;
  static constexpr std::uint32_t largest_process = (1u << 24) - 1;

  explicit nsys_terms(trace_contents& trace);

  std::int64_t time(timestamp_ns moment) const noexcept { return (moment - origin_).value; }
  std::optional<std::int64_t> time_if_known(timestamp_ns moment) const noexcept {
    return moment.value == 0 ? std::nullopt : std::optional(time(moment));
  }
  timestamp_ns origin() const noexcept { return origin_; }

  /// As the system numbers it.
  std::uint32_t process_id() const noexcept { return process_; }
  std::int64_t global_process() const noexcept { return global_process_; }
  std::int64_t global_thread(std::uint32_t os_thread) const noexcept {
    return global_process_ | (os_thread & largest_process);
  }
  /// Nothing for a thread that was not seen.
  std::optional<std::int64_t> global_thread(thread_index thread) const;

  /// 0 for a context that the capture does not explain.
  device_id device_of(context_id context) const;

 private:
  trace_contents* trace_;
  timestamp_ns origin_;
  std::uint32_t process_;
  std::int64_t global_process_;
  std::map<context_id, device_id> devices_;
};

/// Of ENUM_CUDA_MEM_KIND.
constexpr int nsys_memory_kind(memory_kind kind) noexcept {
  return kind == memory_kind::unknown ? 7 : static_cast<int>(kind) - 1;
}

}  // namespace gpuprof
