// SPDX-License-Identifier: Apache-2.0
// A finding is one thing that slows a program: what, where, how much time it costs, what to do.
#pragma once

#include "host/analysis/timeline/time_bucket.hpp"
#include "host/replay/repair.hpp"
#include "model/ids.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host::advice {

/// Time of this run that a fix would save, summed over all GPUs. `low` is saved without any other
/// change, `high` at best.
struct time_gain {
  double low_ns = 0, high_ns = 0;
};

/// One value that supports a finding.
struct evidence {
  std::string name;  // "achieved"
  double value = 0;
  std::string unit;    // "GB/s"; empty: a count or a ratio
  std::string source;  // "counted", "sampled", "measured peak", "traced", "NVML"
  double error = 0;    // one standard error of `value`; 0: not known, or exact
};

enum class severity : std::uint8_t { info, warning };

/// Says how a finding takes its share of the time that its kernel can save; see kernel_caps.hpp.
enum class kernel_claim : std::uint8_t {
  none,        // not about a single kernel, or takes nothing
  remainder,   // takes the distance to the roof that nothing else explains
  symptom,     // takes distance to the roof as a symptom; dropped beside a cause
  cause,       // takes distance to the roof as a cause
  other_work,  // takes from the whole kernel time: less or other work moves the roof itself
};

/// What a fix changes in recorded steps. A replay of the steps says what that saves.
struct stated_repair {
  replay::repair_kind kind{};
  std::vector<std::string> names = {};  // of GPU work, calls or ranges, as the kind takes them
  std::string within = {};              // range; empty: everywhere
  std::uint64_t max_bytes = 0;          // copies and fills of at most this size; 0: of any size
  double sure = 0, at_best = 0;         // the value of the least repair, and of the best one
  double limit_ns = 0;                  // as in replay::repair
  bool to_host = false;                 // pinned copies
  double saved_low_ns = 0, saved_high_ns = 0;  // scaled kernels: of their time in this run
  bool is_only_at_best = false;                // the low gain is without this repair
  std::vector<bool> items = {};  // in place of names: work, by index into recorded_steps::items
};

/// For `yields_to`: the finding says that time is lost, but not why.
inline constexpr std::string_view every_other_rule = "*";

struct finding {
  std::string_view rule;  // as given to --rule
  severity level = severity::warning;
  std::string what;                 // one line: "cudaMemcpy from pageable memory"
  std::optional<device_id> device;  // empty: all devices
  std::string range;                // range in which most of it happens; empty: none, or everywhere
  std::string line;                 // of Python, "train.py:61"; empty: not known
  std::string module;               // of PyTorch, "h.*.c_fc: Conv1D"; empty: none, or not known
  std::string kernel;               // empty: not about one kernel
  std::string geometry;             // of the kernel's launches: "grid 132, block 256"
  std::string call;                 // CUDA API call; empty: none
  std::uint64_t instances = 0;
  std::vector<evidence> because;  // the strongest evidence first
  time_gain gain;
  /// The time of the kernels or of the idle stretches that the finding is about: no gain is larger.
  double within_ns = std::numeric_limits<double>::infinity();
  /// Empty: the fix cannot be stated as a change of steps, and `gain` comes from sums of the run.
  std::vector<stated_repair> repairs;
  /// "nothing needs the moves": what the fix takes for granted and no capture can tell. `gain` is
  /// what the fix saves then, and what takes the place of the work that goes is not known. Empty:
  /// the fix takes nothing for granted.
  std::string condition;
  /// Work that the fix moves beside the step, in nanoseconds of the run: for the low gain, a step
  /// takes no less than its share of it.
  double beside_ns = 0;
  bool is_replayed = false;  // `gain` comes from a replay, after the fixes that save more
  /// What the fix saves at best without those, in nanoseconds of the run. It may be less than
  /// `gain`: faster kernels save nothing while launches hold the program.
  double alone_ns = std::numeric_limits<double>::infinity();
  /// What takes most of a step after this fix and those that save more.
  std::optional<replay::path_part> then;
  kernel_claim claim = kernel_claim::none;
  std::optional<std::size_t> kernel_line;  // index into run_facts::kernels
  /// Findings of one rule and one family have the same fix and are merged, even for different
  /// kernels. Empty: the kernel's name is used.
  std::string family;
  std::uint32_t kernels = 1, geometries = 1;  // merged into this finding
  // rules that found the same, whose gain is included here
  std::vector<std::string_view> also;
  /// The bucket that the gain is taken from, so that no time is claimed twice.
  time_bucket bucket{};
  // used in this order if `bucket` has less than the gain
  std::vector<time_bucket> further_buckets;
  /// The part of the high gain that only removes a wait. The launching thread and the GPU still
  /// need their time, so all such parts together are limited to what steps take beyond the longer
  /// of both.
  double removed_wait_ns = 0;
  /// A rule that explains the same time better: if it found something, it takes its part first.
  /// every_other_rule means that all other rules do.
  std::string_view yields_to;
  std::string to_do;                   // what to change, in one or two sentences
  std::string arithmetic;              // how the gain was computed, with its figures
  bool changes_results = false;        // the fix changes results in their last digits
  bool is_hidden_by_launches = false;  // the program waits for its launches, not for this kernel
};

}  // namespace gpuprof::host::advice
