// SPDX-License-Identifier: Apache-2.0
// Faults a test has asked for in the environment, by the variables that cupti/README.md lists.
#pragma once

#include <cupti.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace gpuprof::replay {

class faults {
 public:
  static faults& get() noexcept;

  /// The code this call of `function` must return; CUPTI_SUCCESS: none.
  CUptiResult for_call(char const* function) noexcept;

  std::uint32_t version = 130001;
  std::string held_by;
  std::uint64_t fatal_after = 0;
  unsigned slow_flush_ms = 0;
  bool no_code = false, launching_kernels = false;
  std::uint64_t graphs_early = 0, late_ms = 0;
  unsigned push_us = 0, pop_us = 0, decode_us = 0, plan_us = 0, unload_us = 0, start_ms = 0;
  unsigned nodes_us = 0;

  bool drops_this_record() noexcept { return hits(drop_every_, dropped_counter_); }
  bool overflows_this_decode() noexcept { return hits(overflow_every_, decode_counter_); }
  bool has_a_long_sample() noexcept { return hits(long_sample_every_, long_sample_counter_); }
  bool zeroes_this_kernel() noexcept { return hits(zero_every_, zeroed_counter_); }

 private:
  struct failing_call {
    std::string function;
    unsigned long nth = 0;  // 0: every call
    CUptiResult code{};
    std::atomic<unsigned long> calls{0};
  };

  faults();
  void read_failing_calls(std::string const& text);
  static bool hits(std::uint64_t every, std::atomic<std::uint64_t>& counter) noexcept {
    return every != 0 && (++counter % every) == 0;
  }

  std::vector<failing_call*> failing_;  // never freed: the process ends with them
  std::uint64_t drop_every_ = 0, zero_every_ = 0, overflow_every_ = 0;
  std::uint64_t long_sample_every_ = 0;
  std::atomic<std::uint64_t> dropped_counter_{0}, zeroed_counter_{0}, decode_counter_{0};
  std::atomic<std::uint64_t> long_sample_counter_{0};
};

}  // namespace gpuprof::replay
