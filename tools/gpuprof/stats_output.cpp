#include "stats_output.hpp"

#include "report/overview.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <unistd.h>

namespace gpuprof {
namespace {

using file = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

report_format format_of(output_choice const& choice, std::size_t report) {
  return choice.formats[std::min(report, choice.formats.size() - 1)];
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

void put(std::FILE* out, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), out);
}

constexpr std::size_t lines_on_a_terminal = 20;

/// Returns how many lines are left out.
std::size_t write_table(report::table const& whole, report_format format,
                        output_choice const& choice, std::FILE* out) {
  auto const sink = [out](std::string_view text) { put(out, text); };
  auto const by_default =
      format == report_format::table && is_terminal(out) ? lines_on_a_terminal : 0;
  auto const limit = choice.limit.value_or(by_default);
  auto const left_out = std::make_shared<std::size_t>(0);
  auto const table = limit == 0 ? whole : report::first_rows(whole, limit, left_out);
  switch (format) {
    case report_format::table:
      report::write_columns(table, choice.unit, sink, page_of(out, choice.wide));
      break;
    case report_format::csv:
      report::write_csv(table, choice.unit, sink);
      break;
    case report_format::tsv:
      report::write_tsv(table, choice.unit, sink);
      break;
    case report_format::json:
      report::write_json(table, choice.unit, sink);
      break;
  }
  return *left_out;
}

/// Column reports say what they are and what is missing in their own text.
void write_for_people(finished_report const& report, output_choice const& choice, std::FILE* out) {
  put(out, "\n ** " + report.table.title + " (" + report.table.name + "):\n\n");
  if (!report.missing.empty()) {
    put_line(out, " " + report.missing);
    return;
  }
  auto const left_out = write_table(report.table, report_format::table, choice, out);
  if (left_out != 0)
    put(out, " ... and " + report::readable_count(left_out) + " more; --limit 0 shows all\n");
  for (auto const& note : report.notes) put_line(out, " " + note);
}

/// CSV and JSON hold the table alone: what else there is to say goes to stderr.
void say_beside(finished_report const& report) {
  auto const prefix = "gpuprof: " + report.table.name + ": ";
  if (!report.missing.empty()) put(stderr, prefix + report.missing + "\n");
  for (auto const& note : report.notes) put(stderr, prefix + note + "\n");
}

result<void> finished(std::FILE* out, std::string const& name) {
  if (std::fflush(out) == 0 && std::ferror(out) == 0) return {};
  return error{"writing " + name + " failed: " + std::strerror(errno) +
               "; the report is incomplete"};
}

bool only_json(std::vector<finished_report> const& reports, output_choice const& choice) {
  for (std::size_t i = 0; i < reports.size(); ++i)
    if (format_of(choice, i) != report_format::json) return false;
  return true;
}

/// Several arrays one after the other are not JSON: they become members of one object.
void write_json_object(std::vector<finished_report> const& reports, output_choice const& choice) {
  put(stdout, "{\n");
  for (std::size_t i = 0; i < reports.size(); ++i) {
    put(stdout, "\"" + reports[i].table.name + "\": ");
    write_table(reports[i].table, report_format::json, choice, stdout);
    if (i + 1 < reports.size()) put(stdout, ",\n");
  }
  put(stdout, "}\n");
}

result<void> write_to_standard_output(std::vector<finished_report> const& reports,
                                      std::vector<std::string> const& heading,
                                      output_choice const& choice) {
  bool for_people = false;
  for (std::size_t i = 0; i < reports.size(); ++i)
    for_people = for_people || format_of(choice, i) == report_format::table;
  for (auto const& line : heading) put_line(for_people ? stdout : stderr, line);

  if (reports.size() > 1 && only_json(reports, choice)) {
    for (auto const& report : reports) say_beside(report);
    write_json_object(reports, choice);
    return finished(stdout, "to standard output");
  }
  std::string empty;  // several that have nothing to show take one line together
  for (std::size_t i = 0; i < reports.size(); ++i) {
    auto const format = format_of(choice, i);
    if (format == report_format::table && reports.size() > 1 && !reports[i].missing.empty()) {
      empty += (empty.empty() ? "" : "; ") + reports[i].table.name + ": " + reports[i].missing;
      continue;
    }
    if (format == report_format::table) {
      write_for_people(reports[i], choice, stdout);
      continue;
    }
    say_beside(reports[i]);
    if (i > 0) put(stdout, "\n");
    write_table(reports[i].table, format, choice, stdout);
  }
  if (!empty.empty()) {
    put(stdout, "\n");
    put_line(stdout, " Empty: " + empty);
  }
  return finished(stdout, "to standard output");
}

result<file> open_output(std::string const& name, bool overwrite) {
  auto const flags = O_WRONLY | O_CREAT | O_CLOEXEC | (overwrite ? O_TRUNC : O_EXCL);
  auto const descriptor = open(name.c_str(), flags, 0666);
  if (descriptor < 0 && errno == EEXIST)
    return error{name +
                 " exists already, the report is not written; use --force-overwrite or "
                 "another name for --output"};
  file out(descriptor < 0 ? nullptr : fdopen(descriptor, "w"), std::fclose);
  if (out == nullptr)
    return error{"cannot write " + name + ": " + std::strerror(errno) +
                 "; the report is not written, choose another place with --output"};
  return out;
}

}  // namespace

result<void> write_reports(std::vector<finished_report> const& reports,
                           std::vector<std::string> const& heading, output_choice const& choice) {
  if (choice.base == "-") return write_to_standard_output(reports, heading, choice);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    auto const format = format_of(choice, i);
    auto const name = reports.size() == 1 && !choice.file.empty()
                          ? choice.file
                          : choice.base + "_" + reports[i].table.name + extension_of(format);
    auto out = open_output(name, choice.overwrite);
    if (!out) return error{out.message()};
    if (format == report_format::table) {
      for (auto const& line : heading) put(out->get(), line + "\n");
      write_for_people(reports[i], choice, out->get());
    } else {
      if (i == 0)
        for (auto const& line : heading) put(stderr, line + "\n");
      say_beside(reports[i]);
      write_table(reports[i].table, format, choice, out->get());
    }
    if (auto const done = finished(out->get(), name); !done) return done;
    put(stderr, "gpuprof: wrote " + name + "\n");
  }
  return {};
}

}  // namespace gpuprof
