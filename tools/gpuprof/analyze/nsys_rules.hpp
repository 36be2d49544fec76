// SPDX-License-Identifier: Apache-2.0
// Implements the rules of `nsys analyze` under their names: rows of a capture as nsys lists them.
#pragma once

#include "base/result.hpp"
#include "host/analysis/selection.hpp"
#include "host/reading/trace_contents.hpp"
#include "text/table.hpp"

#include <optional>
#include <span>
#include <string_view>

namespace gpuprof::host::command {

/// The defaults are those of nsys.
struct nsys_rule_options {
  std::optional<std::size_t> rows = 50;  // nothing: all
  std::uint64_t gap_ms = 500;            // gpu_gaps: minimum length
  unsigned chunks = 30;                  // gpu_time_util: 1 to 1000
  double threshold_percent = 50;         // gpu_time_util: lists chunks below it
  selection const* wanted = nullptr;     // null: everything
};

/// "cuda_memcpy_async", "cuda_memcpy_sync", "cuda_memset_sync", "cuda_api_sync", "gpu_gaps",
/// "gpu_time_util".
std::span<std::string_view const> nsys_rule_names() noexcept;
bool is_nsys_rule(std::string_view name) noexcept;

/// The error says what the capture lacks, or what is wrong with an option. The trace outlives the
/// table. A table without rows: the rule found nothing.
result<text::table> nsys_rule_table(trace_contents& trace, std::string_view name,
                                    nsys_rule_options const& options);

}  // namespace gpuprof::host::command
