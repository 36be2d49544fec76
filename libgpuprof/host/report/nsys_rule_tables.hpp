// SPDX-License-Identifier: Apache-2.0
// The rules of nsys as tables, with its columns.
#pragma once

#include "host/analysis/kernel_labels.hpp"
#include "host/analysis/nsys_rules/rule_rows.hpp"
#include "text/table.hpp"

#include <vector>

namespace gpuprof::host::report {

/// Values that rows need besides their own: times count from `origin`.
struct rule_table_context {
  timestamp_ns origin;
  std::uint32_t process = 0;
  text_of_name text;
};

text::table copy_rule_table(std::string name, std::string title,
                            std::vector<nsys_rules::memory_row> const& rows,
                            rule_table_context const& context);
text::table fill_rule_table(std::string name, std::string title,
                            std::vector<nsys_rules::memory_row> const& rows,
                            rule_table_context const& context);
text::table wait_rule_table(std::string name, std::string title,
                            std::vector<nsys_rules::call_row> const& rows,
                            rule_table_context const& context);
text::table gap_rule_table(std::string name, std::string title,
                           std::vector<nsys_rules::gap_row> const& rows,
                           rule_table_context const& context);
text::table use_rule_table(std::string name, std::string title,
                           std::vector<nsys_rules::use_row> const& rows,
                           rule_table_context const& context);

}  // namespace gpuprof::host::report
