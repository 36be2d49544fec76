// SPDX-License-Identifier: Apache-2.0
// Writes a comparison: as text, Markdown, CSV or JSON.
#pragma once

#include "base/result.hpp"
#include "host/compare/comparison.hpp"
#include "host/compare/gate.hpp"
#include "text/table.hpp"
#include "word_option.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::host::command {

enum class comparison_format { table, markdown, csv, tsv, json };

inline constexpr word_value<comparison_format> comparison_formats[] = {
    {"table", comparison_format::table}, {"markdown", comparison_format::markdown},
    {"csv", comparison_format::csv},     {"tsv", comparison_format::tsv},
    {"json", comparison_format::json},   {"md", comparison_format::markdown}};

struct comparison_page {
  comparison_format format{};
  std::string output = "-";
  bool overwrite = false, wide = false;
  std::size_t limit = 0;  // lines per table for reading; 0: all
  text::time_unit unit{};
};

struct compared_sides {
  std::span<compare::run_digest const> base, fresh;
};

/// Returns one object with all lines.
std::string comparison_json(compare::comparison const& of, compared_sides const& sides,
                            std::span<compare::gate_result const> gate);

result<void> write_comparison(compare::comparison const& of, compared_sides const& sides,
                              std::span<compare::gate_result const> gate,
                              comparison_page const& page);

/// Returns the first lines of a comparison: what is compared, and the change of the step.
std::vector<std::string> headlines_of(compare::comparison const& of, compared_sides const& sides);

}  // namespace gpuprof::host::command
