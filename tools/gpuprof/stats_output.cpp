// SPDX-License-Identifier: Apache-2.0
#include "stats_output.hpp"

#include "base/readable.hpp"
#include "output_file.hpp"
#include "terminal.hpp"
#include "text/overview.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>

namespace gpuprof::host::command {
namespace {

report_format format_of(stats_output_options const& options, std::size_t report) {
  return options.formats[std::min(report, options.formats.size() - 1)];
}

char const* extension_of(report_format format) noexcept {
  switch (format) {
    case report_format::csv:
      return ".csv";
    case report_format::tsv:
      return ".tsv";
    case report_format::json:
      return ".json";
    case report_format::table:
      break;
  }
  return ".txt";
}

constexpr std::size_t lines_on_a_terminal = 20;

/// Returns the number of lines left out.
std::size_t write_table(text::table const& whole, report_format format,
                        stats_output_options const& options, output_file const& out) {
  auto const sink = [&out](std::string_view text) { out.put(text); };
  auto const by_default =
      format == report_format::table && is_terminal(out.stream()) ? lines_on_a_terminal : 0;
  auto const limit = options.limit.value_or(by_default);
  auto const left_out = std::make_shared<std::size_t>(0);
  auto const table = limit == 0 ? whole : text::first_rows(whole, limit, left_out);
  switch (format) {
    case report_format::table:
      text::write_columns(table, options.unit, sink, page_of(out.stream(), options.wide));
      break;
    case report_format::csv:
      text::write_csv(table, options.unit, sink);
      break;
    case report_format::tsv:
      text::write_tsv(table, options.unit, sink);
      break;
    case report_format::json:
      text::write_json(table, options.unit, sink);
      break;
  }
  return *left_out;
}

/// Reports as text include their title and what is missing.
void write_for_people(finished_report const& report, stats_output_options const& options,
                      output_file const& out) {
  out.put("\n ** " + report.table.title + " (" + report.table.name + "):\n\n");
  if (!report.missing.empty()) {
    put_line(out.stream(), " " + report.missing);
    return;
  }
  auto const left_out = write_table(report.table, report_format::table, options, out);
  if (left_out != 0)
    out.put(" ... and " + readable_count(left_out) + " more; --limit 0 shows all\n");
  for (auto const& note : report.notes) put_line(out.stream(), " " + note);
}

/// CSV and JSON contain only the table, so all notes go to stderr.
void say_beside(finished_report const& report) {
  auto const prefix = "gpuprof: " + report.table.name + ": ";
  if (!report.missing.empty()) put_line(stderr, prefix + report.missing);
  for (auto const& note : report.notes) put_line(stderr, prefix + note);
}

bool only_json(std::vector<finished_report> const& reports, stats_output_options const& options) {
  for (std::size_t i = 0; i < reports.size(); ++i)
    if (format_of(options, i) != report_format::json) return false;
  return true;
}

/// Several consecutive arrays are not valid JSON, so they become members of one object.
void write_json_object(std::vector<finished_report> const& reports,
                       stats_output_options const& options, output_file const& out) {
  out.put("{\n");
  for (std::size_t i = 0; i < reports.size(); ++i) {
    out.put("\"" + reports[i].table.name + "\": ");
    write_table(reports[i].table, report_format::json, options, out);
    if (i + 1 < reports.size()) out.put(",\n");
  }
  out.put("}\n");
}

result<void> write_to_standard_output(std::vector<finished_report> const& reports,
                                      std::vector<std::string> const& heading,
                                      stats_output_options const& options) {
  auto out = output_file::open("-", false);
  bool for_people = false;
  for (std::size_t i = 0; i < reports.size(); ++i)
    for_people = for_people || format_of(options, i) == report_format::table;
  for (auto const& line : heading) put_line(for_people ? stdout : stderr, line);

  if (reports.size() > 1 && only_json(reports, options)) {
    for (auto const& report : reports) say_beside(report);
    write_json_object(reports, options, *out);
    return out->finish();
  }
  std::string empty;  // reports without rows share one line
  for (std::size_t i = 0; i < reports.size(); ++i) {
    auto const format = format_of(options, i);
    if (format == report_format::table && reports.size() > 1 && !reports[i].missing.empty()) {
      empty += (empty.empty() ? "" : "; ") + reports[i].table.name + ": " + reports[i].missing;
      continue;
    }
    if (format == report_format::table) {
      write_for_people(reports[i], options, *out);
      continue;
    }
    say_beside(reports[i]);
    if (i > 0) out->put("\n");
    write_table(reports[i].table, format, options, *out);
  }
  if (!empty.empty()) {
    out->put("\n");
    put_line(stdout, " Empty: " + empty);
  }
  return out->finish();
}

}  // namespace

result<void> write_reports(std::vector<finished_report> const& reports,
                           std::vector<std::string> const& heading,
                           stats_output_options const& options) {
  if (options.base == "-") return write_to_standard_output(reports, heading, options);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    auto const format = format_of(options, i);
    auto const name = reports.size() == 1 && !options.file.empty()
                          ? options.file
                          : options.base + "_" + reports[i].table.name + extension_of(format);
    auto out = output_file::open(name, options.overwrite, options.captures);
    if (!out) return error{out.message()};
    if (format == report_format::table) {
      for (auto const& line : heading) out->put(line + "\n");
      write_for_people(reports[i], options, *out);
    } else {
      if (i == 0)
        for (auto const& line : heading) put_line(stderr, line);
      say_beside(reports[i]);
      write_table(reports[i].table, format, options, *out);
    }
    if (auto done = out->finish(); !done) return done;
  }
  return {};
}

}  // namespace gpuprof::host::command
