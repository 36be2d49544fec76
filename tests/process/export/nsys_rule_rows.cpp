// SPDX-License-Identifier: Apache-2.0
// gpuprof-nsys-rule-rows FILE RULE [ROWS [GAP_MS [CHUNKS [THRESHOLD]]]]: the table of a rule of
// nsys as CSV. ROWS -1: all.
#include "analyze/nsys_rules.hpp"

#include <cstdio>
#include <cstdlib>

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::host::command;

int main(int count, char** arguments) {
  if (count < 3) return 2;
  auto const number = [&](int index, long otherwise) {
    return count > index ? std::atol(arguments[index]) : otherwise;
  };
  auto opened = capture::reader::open(arguments[1]);
  if (!opened) {
    std::fprintf(stderr, "%s\n", opened.message().c_str());
    return 1;
  }
  trace_contents trace(std::move(*opened));
  nsys_rule_options options;
  auto const rows = number(3, 50);
  options.rows = rows < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(rows));
  options.gap_ms = static_cast<std::uint64_t>(number(4, 500));
  options.chunks = static_cast<unsigned>(number(5, 30));
  options.threshold_percent = static_cast<double>(number(6, 50));
  auto const table = nsys_rule_table(trace, arguments[2], options);
  if (!table) {
    std::fprintf(stderr, "%s\n", table.message().c_str());
    return 1;
  }
  text::write_csv(*table, text::time_unit::nanoseconds, [](std::string_view piece) {
    std::fwrite(piece.data(), 1, piece.size(), stdout);
  });
  return 0;
}
