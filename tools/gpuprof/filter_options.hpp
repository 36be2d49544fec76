// SPDX-License-Identifier: Apache-2.0
// The options that narrow a report: the same in stats and roofline.
#pragma once

#include "host/analysis/selection.hpp"
#include "host/reading/trace_contents.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace gpuprof {

struct filter_options {
  std::string nvtx, time;  // empty: none
  std::vector<std::string> kernels;
  std::optional<std::uint32_t> device, stream;
};

void add_filter_options(CLI::App& command, filter_options& options);

/// "only: --filter-nvtx step, --device 0", to stand above what is reported; empty without filters.
std::string filters_line(filter_options const& options);

/// Why there is nothing to report. `wrong_options`: the option is wrong, whatever the capture
/// holds.
struct filter_failure {
  std::string message;
  bool wrong_options = false;
};

/// Nothing: `wanted` is narrowed. `trace` must outlive it.
std::optional<filter_failure> narrow(selection& wanted, filter_options const& options,
                                     trace_contents& trace, std::string const& path,
                                     range_scope scope);

}  // namespace gpuprof
