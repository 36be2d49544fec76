// SPDX-License-Identifier: Apache-2.0
// Says on which row of its thread a CUDA call is drawn, and whether it runs inside another.
#pragma once

#include "host/export/chrome/cpu_rows.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace gpuprof::chrome {

/// Calls of a thread nest; where their times say otherwise, one goes to a further row. Who asks for
/// the same calls again gets the same rows.
class call_rows {
 public:
  explicit call_rows(cpu_rows& rows) noexcept : rows_(&rows) {}

  struct place {
    track at;
    bool is_outermost = true;  // of those with its correlation
    bool nests = true;         // it is on the thread's own row
  };
  /// In order of their start.
  place place_of(api_record const& call);

  /// The call that is open on the thread's own row at a moment: where it began and will end; 0:
  /// none.
  struct interval {
    std::uint64_t start = 0, end = 0;
  };
  interval open_at(std::uint32_t os_thread, timestamp_ns moment);

 private:
  struct open_call {
    std::uint64_t start = 0, end = 0;
    correlation_id correlation{};
  };
  struct of_thread {
    std::vector<open_call> open;
    std::vector<std::uint64_t> busy_until;  // of the further rows
  };
  static void close_until(std::vector<open_call>& open, std::uint64_t moment) noexcept {
    while (!open.empty() && open.back().end <= moment) open.pop_back();
  }
  of_thread& thread(std::uint32_t os_thread);

  cpu_rows* rows_;
  std::unordered_map<std::uint32_t, of_thread> threads_;
  std::uint32_t last_number_ = 0;
  of_thread* last_ = nullptr;  // calls of a thread follow each other
};

}  // namespace gpuprof::chrome
