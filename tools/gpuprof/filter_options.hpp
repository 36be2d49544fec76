// SPDX-License-Identifier: Apache-2.0
// The options that filter a report, common to stats and roofline.
#pragma once

#include "host/analysis/launch_ranges.hpp"
#include "host/analysis/selection.hpp"
#include "host/reading/trace_contents.hpp"
#include "word_option.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace gpuprof::host::command {

struct filter_options {
  std::string nvtx, time;  // empty: none
  std::vector<std::string> kernels;
  std::optional<std::uint32_t> device, stream;
};

void add_filter_options(CLI::App& command, filter_options& options);
/// Adds --own: folders of the program's own code. One value each time, so that names of captures
/// may follow.
void add_own_option(CLI::App& command, std::vector<std::string>& folders);

/// Returns "only: --filter-nvtx step, --device 0", a line above the report; empty without filters.
std::string filters_line(filter_options const& options);

/// The reason for an empty report. `wrong_options`: the option is wrong for any capture.
struct filter_failure {
  std::string message;
  bool wrong_options = false;
};

/// Narrows `wanted`; returns nothing on success. `trace` must outlive it.
std::optional<filter_failure> narrow(selection& wanted, filter_options const& options,
                                     trace_contents& trace, std::string const& path,
                                     range_scope scope);

/// Values of the option that selects whose ranges a launch belongs to, in stats and roofline.
inline constexpr word_value<range_scope> range_scopes[] = {{"process", range_scope::process},
                                                           {"thread", range_scope::thread}};
inline constexpr char const* range_scope_help =
    "process: launches of a thread without an open range belong to that of the thread that waits "
    "for it; thread: they belong to none, as in nsys";

}  // namespace gpuprof::host::command
