// SPDX-License-Identifier: Apache-2.0
#include "roofline_output.hpp"

#include "base/readable.hpp"
#include "output_file.hpp"
#include "terminal.hpp"
#include "text/overview.hpp"

#include <cstdio>

namespace gpuprof {
namespace {

void write_to(output_file const& out, std::span<roofline_row const> lines,
              report::roofline_lines of, report::roofline_facts const& facts, std::size_t left_out,
              roofline_format format, bool wide) {
  auto const sink = [&out](std::string_view text) { out.put(text); };
  auto* const beside = format == roofline_format::table ? out.stream() : stderr;
  if (format != roofline_format::json)  // which has them inside
    for (auto const& line : facts.summary) put_line(beside, line);
  switch (format) {
    case roofline_format::table: {
      auto const table = report::roofline_table(lines, of);
      out.put("\n ** " + table.title + ":\n\n");
      report::write_columns(table, {}, sink, page_of(out.stream(), wide));
      if (report::has_unsure_figures(lines))
        put_line(out.stream(),
                 std::string(" ") + report::unsure_mark +
                     ": the standard error is above 5 % of the figure; -f csv and -f json have it");
      if (report::has_limits(lines))
        put_line(
            out.stream(),
            std::string(" ") + report::limit_mark +
                ": an upper limit: what the instructions compute if all lanes of the warps do. "
                "-f csv and -f json have flops_low and flops_high; gpuprof profile --metrics "
                "exact counts");
      if (left_out > 0)
        out.put(" ... and " + readable_count(left_out) + " more; --limit 0 shows all\n");
      return;
    }
    case roofline_format::csv:
      return report::write_csv(report::roofline_csv_table(lines, of), {}, sink);
    case roofline_format::tsv:
      return report::write_tsv(report::roofline_csv_table(lines, of), {}, sink);
    case roofline_format::json:
      return report::write_roofline_json(lines, of, facts, sink);
    case roofline_format::svg:
      return report::write_roofline_svg(lines, of, facts, sink);
  }
}

}  // namespace

result<void> write_roofline(std::span<roofline_row const> lines, report::roofline_lines of,
                            report::roofline_facts const& facts, std::size_t left_out,
                            roofline_place const& place) {
  auto const out = output_file::open(place.output, place.overwrite, {&place.capture, 1});
  if (!out) return error{out.message()};
  write_to(*out, lines, of, facts, left_out, place.format, place.wide);
  return out->finish();
}

}  // namespace gpuprof
