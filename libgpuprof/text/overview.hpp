// SPDX-License-Identifier: Apache-2.0
// The first lines of every report: what was captured, what was lost, and the cost of profiling.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::text {

struct overview {
  struct amount {
    std::string what;  // "kernels"
    std::uint64_t count = 0;
  };
  struct gpu {
    std::string name;  // "NVIDIA H200"
    std::string uuid;
    std::uint32_t device = 0;
    bool has_worked = true;
  };
  std::string program;          // command line; empty: not known
  std::vector<gpu> devices;     // all that are described
  double seconds = 0;           // sum over all windows; 0: not known
  std::size_t windows = 0;      // number of captures in the session
  std::vector<amount> records;  // zero amounts are not shown
  std::vector<amount> losses;   // zero amounts are not shown
  /// Losses without a number: "the end of the file".
  std::vector<std::string> other_losses;
  std::set<std::string> ways_to_lose_less;  // "a greater --buffer-limit-mib"
  std::vector<amount> costs;                // {"cost.start_ns", 9'800'000}, "memory.names_bytes"
  bool all_launches_read = false;           // --metrics exact: no part of it was needed once only
  std::uint64_t launches = 0;               // calls that started kernels or graphs
  std::optional<double> ns_a_launch;        // what tracing adds; none: not measured here
  std::string costs_of;                     // "most in rank 1"; empty: not several
  std::vector<std::string> remarks;         // further lines, such as warnings of the reader
};

/// Returns the share of the run in which the program waited for the profiler; 0: not recorded.
double share_lost(overview const& about);

/// Returns "captured: ...", "lost: ...", "cost: ...", then the remarks; without line ends.
std::vector<std::string> overview_lines(overview const& about);
inline constexpr std::size_t cost_line_at = 2;

/// The most that reading samples may cost in advance of what the budget allows.
inline constexpr std::uint64_t sampling_once_ns = 100'000'000;

/// What tracing adds to a launch, in ns, on the machines where it was measured
/// (docs/measurements/tracing.md): quiet ones and busy ones.
inline constexpr double least_ns_a_launch = 523, most_ns_a_launch = 2500;

/// Returns "cost: the program waited 674 ms for this profiler, 2.1 % of the run (350 ms once, ...".
/// All commands and pages show this line.
std::string cost_line(overview const& about);

/// Sorts a counter of a capture into losses ("lost.kernels") or costs ("cost.start_ns",
/// "memory.buffers_bytes"); ignores any other.
void add_counter(overview& about, std::string_view name, std::uint64_t value);

}  // namespace gpuprof::text
