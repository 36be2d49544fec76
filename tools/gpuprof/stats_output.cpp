#include "stats_output.hpp"

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
    case report_format::json:
      return ".json";
    case report_format::column:
      break;
  }
  return ".txt";
}

void put(std::FILE* out, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), out);
}

void write_table(report::table const& table, report_format format, report::time_unit unit,
                 std::FILE* out) {
  auto const sink = [out](std::string_view text) { put(out, text); };
  switch (format) {
    case report_format::column:
      return report::write_columns(table, unit, sink);
    case report_format::csv:
      return report::write_csv(table, unit, sink);
    case report_format::json:
      return report::write_json(table, unit, sink);
  }
}

/// Column reports say what they are and what is missing in their own text.
void write_for_people(finished_report const& report, report::time_unit unit, std::FILE* out) {
  put(out, "\n ** " + report.table.title + " (" + report.table.name + "):\n\n");
  if (!report.missing.empty()) {
    put(out, " " + report.missing + "\n");
    return;
  }
  write_table(report.table, report_format::column, unit, out);
  for (auto const& note : report.notes) put(out, " " + note + "\n");
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
void write_json_object(std::vector<finished_report> const& reports, report::time_unit unit) {
  put(stdout, "{\n");
  for (std::size_t i = 0; i < reports.size(); ++i) {
    put(stdout, "\"" + reports[i].table.name + "\": ");
    write_table(reports[i].table, report_format::json, unit, stdout);
    if (i + 1 < reports.size()) put(stdout, ",\n");
  }
  put(stdout, "}\n");
}

result<void> write_to_standard_output(std::vector<finished_report> const& reports,
                                      std::vector<std::string> const& heading,
                                      output_choice const& choice) {
  bool for_people = false;
  for (std::size_t i = 0; i < reports.size(); ++i)
    for_people = for_people || format_of(choice, i) == report_format::column;
  for (auto const& line : heading) put(for_people ? stdout : stderr, line + "\n");

  if (reports.size() > 1 && only_json(reports, choice)) {
    for (auto const& report : reports) say_beside(report);
    write_json_object(reports, choice.unit);
    return finished(stdout, "to standard output");
  }
  for (std::size_t i = 0; i < reports.size(); ++i) {
    auto const format = format_of(choice, i);
    if (format == report_format::column) {
      write_for_people(reports[i], choice.unit, stdout);
      continue;
    }
    say_beside(reports[i]);
    if (i > 0) put(stdout, "\n");
    write_table(reports[i].table, format, choice.unit, stdout);
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
    auto const name = choice.base + "_" + reports[i].table.name + extension_of(format);
    auto out = open_output(name, choice.overwrite);
    if (!out) return error{out.message()};
    if (format == report_format::column) {
      for (auto const& line : heading) put(out->get(), line + "\n");
      write_for_people(reports[i], choice.unit, out->get());
    } else {
      if (i == 0)
        for (auto const& line : heading) put(stderr, line + "\n");
      say_beside(reports[i]);
      write_table(reports[i].table, format, choice.unit, out->get());
    }
    if (auto const done = finished(out->get(), name); !done) return done;
    put(stderr, "gpuprof: wrote " + name + "\n");
  }
  return {};
}

}  // namespace gpuprof
