// SPDX-License-Identifier: Apache-2.0
// One thing that holds a program back: what, where, how much time it costs, what to do.
#pragma once

#include "host/analysis/timeline/time_bucket.hpp"
#include "model/ids.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host::advice {

/// Time of this run that a mend would save, all GPUs together. `low`: sure without any other
/// change; `high`: at best.
struct time_gain {
  double low_ns = 0, high_ns = 0;
};

/// One figure that makes us think so.
struct evidence {
  std::string name;  // "achieved"
  double value = 0;
  std::string unit;    // "GB/s"; empty: a count or a ratio
  std::string source;  // "counted", "sampled", "measured peak", "traced", "NVML"
};

enum class severity : std::uint8_t { info, warning };

/// What a finding on a kernel takes from the time that this kernel can save; see kernel_caps.hpp.
enum class kernel_claim : std::uint8_t {
  none,        // it is of no single kernel, or takes nothing
  remainder,   // of the distance to the roof: what nothing else explains
  symptom,     // of it: what it looks like; silent beside a cause
  cause,       // of it: what makes it
  other_work,  // of all of its time: less or other work moves the roof itself
};

/// For `yields_to`: says that time is lost, not why.
inline constexpr std::string_view every_other_rule = "*";

struct finding {
  std::string_view rule;  // as --rule takes it
  severity level = severity::warning;
  std::string what;                 // one line: "cudaMemcpy from pageable memory"
  std::optional<device_id> device;  // nothing: of all
  std::string range;                // in which most of it happens; empty: none, or all over
  std::string kernel;               // empty: it is not of one kernel
  std::string geometry;             // of the kernel's launches: "grid 132, block 256"
  std::string call;                 // CUDA API call; empty: none
  std::uint64_t instances = 0;
  std::vector<evidence> because;  // the most telling first
  time_gain gain;
  kernel_claim claim = kernel_claim::none;
  std::optional<std::size_t> kernel_line;  // in run_facts::kernels
  /// Findings of one rule with one mend for all of them are one, whatever their kernels. Empty: the
  /// kernel's name.
  std::string family;
  std::uint32_t kernels = 1, geometries = 1;  // merged into this finding
  std::vector<std::string_view> also;         // rules that saw the same, whose gain is in this one
  /// Whose time the gain is taken from: no nanosecond is claimed twice.
  time_bucket bucket{};
  std::vector<time_bucket> further_buckets;  // where that one has less than the gain, in this order
  /// Of the high gain: what removing a wait saves, and nothing else. Then the launching thread and
  /// the GPU remain, and all such parts together are at most what steps take beyond the longer of
  /// the two.
  double removed_wait_ns = 0;
  /// A rule that explains the same time better: where it found something, it takes its part first.
  /// every_other_rule: all of them do.
  std::string_view yields_to;
  std::string to_do;                   // what to change, in one or two sentences
  std::string arithmetic;              // how the gain was computed, with its figures
  bool changes_results = false;        // in their last digits
  bool is_hidden_by_launches = false;  // the program waits for its launches, not for this kernel
};

}  // namespace gpuprof::host::advice
