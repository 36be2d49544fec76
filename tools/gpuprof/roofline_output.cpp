#include "roofline_output.hpp"

#include "report/overview.hpp"
#include "terminal.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <unistd.h>

namespace gpuprof {
namespace {

using file = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

void put(std::FILE* out, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), out);
}

result<file> open_output(roofline_place const& place) {
  auto const flags = O_WRONLY | O_CREAT | O_CLOEXEC | (place.overwrite ? O_TRUNC : O_EXCL);
  auto const descriptor = open(place.output.c_str(), flags, 0666);
  if (descriptor < 0 && errno == EEXIST)
    return error{place.output +
                 " exists already, nothing is written; use --force-overwrite or another name for "
                 "--output"};
  file out(descriptor < 0 ? nullptr : fdopen(descriptor, "w"), std::fclose);
  if (out == nullptr)
    return error{"cannot write " + place.output + ": " + std::strerror(errno) +
                 "; choose another place with --output"};
  return out;
}

void write_to(std::FILE* out, std::span<roofline_row const> lines, report::roofline_lines of,
              report::roofline_facts const& facts, std::size_t left_out, roofline_format format,
              bool wide) {
  auto const sink = [out](std::string_view text) { put(out, text); };
  auto* const beside = format == roofline_format::table ? out : stderr;
  if (format != roofline_format::json)  // which has them inside
    for (auto const& line : facts.summary) put_line(beside, line);
  switch (format) {
    case roofline_format::table: {
      auto const table = report::roofline_table(lines, of);
      put(out, "\n ** " + table.title + ":\n\n");
      report::write_columns(table, {}, sink, page_of(out, wide));
      if (report::has_unsure_figures(lines))
        put_line(out,
                 std::string(" ") + report::unsure_mark +
                     ": the standard error is above 5 % of the figure; -f csv and -f json have it");
      if (left_out > 0)
        put(out, " ... and " + report::readable_count(left_out) + " more; --limit 0 shows all\n");
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
  bool const to_standard_output = place.output == "-";
  file opened(nullptr, std::fclose);
  if (!to_standard_output) {
    auto made = open_output(place);
    if (!made) return error{made.message()};
    opened = *std::move(made);
  }
  auto* const out = to_standard_output ? stdout : opened.get();
  write_to(out, lines, of, facts, left_out, place.format, place.wide);
  if (std::fflush(out) != 0 || std::ferror(out) != 0)
    return error{"writing " + (to_standard_output ? "to standard output" : place.output) +
                 " failed: " + std::strerror(errno) + "; it is incomplete"};
  if (!to_standard_output) put(stderr, "gpuprof: wrote " + place.output + "\n");
  return {};
}

}  // namespace gpuprof
