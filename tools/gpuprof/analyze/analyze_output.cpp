// SPDX-License-Identifier: Apache-2.0
#include "analyze/analyze_output.hpp"

#include "analyze/read_advice.hpp"
#include "memory_limit.hpp"
#include "output_file.hpp"
#include "terminal.hpp"

#include <cstdio>
#include <filesystem>

namespace gpuprof::host::command {
namespace {

void write_csv_of(report::advice_report const& report, report::advice_text_options const& options,
                  text::text_sink const& sink) {
  for (auto const& line : report.heading) put_line(stderr, line);
  for (auto const& line : report.remarks) put_line(stderr, line);
  text::write_csv(options.by ? report::ledger_csv_table(report.time, *options.by)
                             : report::advice_csv_table(report),
                  {}, sink);
}

void write_nsys_table(text::table const& table, analyze_place const& place,
                      output_file const& out) {
  auto const sink = [&out](std::string_view text) { out.put(text); };
  switch (place.format) {
    case analyze_format::text:
    case analyze_format::markdown:
      out.put("\n ** " + table.title + " (" + table.name + "):\n\n");
      return text::write_columns(table, {}, sink, page_of(out.stream(), place.wide));
    case analyze_format::csv:
      return text::write_csv(table, {}, sink);
    case analyze_format::json:
      return text::write_json(table, {}, sink);
  }
}

}  // namespace

result<void> write_advice(report::advice_report const& report,
                          report::advice_text_options const& options, analyze_place const& place) {
  auto out = output_file::open(place.output, place.overwrite, place.captures);
  if (!out) return error{out.message()};
  auto const sink = [&out](std::string_view text) { out->put(text); };
  switch (place.format) {
    case analyze_format::text:
      report::write_advice_text(report, options, sink, page_of(out->stream(), place.wide));
      break;
    case analyze_format::csv:
      write_csv_of(report, options, sink);
      break;
    case analyze_format::json:
      report::write_advice_json(report, sink);
      break;
    case analyze_format::markdown:
      report::write_advice_markdown(report, options, sink);
      break;
  }
  return out->finish();
}

void print_advice(report::advice_report const& report, std::FILE* out) {
  report::write_advice_text(
      report, {}, [out](std::string_view text) { std::fwrite(text.data(), 1, text.size(), out); },
      page_of(out, false));
}

result<void> write_nsys_tables(std::vector<text::table> const& tables, analyze_place const& place) {
  auto out = output_file::open(place.output, place.overwrite, place.captures);
  if (!out) return error{out.message()};
  auto const is_object = place.format == analyze_format::json && tables.size() > 1;
  if (is_object) out->put("{\n");
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (is_object) out->put("\"" + tables[i].name + "\": ");
    if (i > 0 && place.format == analyze_format::csv) out->put("\n");
    write_nsys_table(tables[i], place, *out);
    if (is_object && i + 1 < tables.size()) out->put(",\n");
  }
  if (is_object) out->put("}\n");
  return out->finish();
}

void analyze_at_end(std::vector<std::string> const& captures) {
  advice_inputs inputs;
  std::error_code none;
  for (auto const& path : captures)
    if (std::filesystem::is_regular_file(path, none)) inputs.captures.push_back(path);
  if (inputs.captures.empty()) return;
  auto const say = [](std::string const& line) {
    std::fprintf(stderr, "gpuprof: --analyze: %s\n", line.c_str());
    return 1;
  };
  within_memory(
      default_memory_gib, inputs.captures.size() == 1 ? inputs.captures.front() : "these captures",
      [&] {
        auto const outcome = read_advice(inputs);
        if (!outcome.made) return say(outcome.failure.message);
        std::fputc('\n', stderr);
        print_advice(*outcome.made, stderr);
        return 0;
      },
      say);
}

}  // namespace gpuprof::host::command
