// SPDX-License-Identifier: Apache-2.0
// Puts a roofline where the user wants it, in the format the user wants.
#pragma once

#include "base/result.hpp"
#include "host/report/roofline_report.hpp"

#include <span>
#include <string>

namespace gpuprof {

enum class roofline_format { table, csv, tsv, json, svg };

struct roofline_place {
  roofline_format format{};
  std::string output;   // "-": standard output
  std::string capture;  // never replaced
  bool overwrite = false;
  bool wide = false;  // names stay whole on narrow terminals
};

/// First lines and notes go before tables, into JSON, and else to stderr.
result<void> write_roofline(std::span<roofline_row const> lines, report::roofline_lines of,
                            report::roofline_facts const& facts, std::size_t left_out,
                            roofline_place const& place);

}  // namespace gpuprof
