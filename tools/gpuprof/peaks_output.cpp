// SPDX-License-Identifier: Apache-2.0
#include "peaks_output.hpp"

#include "guest/peaks/store/peaks_json.hpp"
#include "guest/peaks/theory/test_list.hpp"
#include "host/report/peaks_table.hpp"

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <cstring>
#include <langinfo.h>
#include <string_view>
#include <sys/ioctl.h>

namespace gpuprof {
namespace {

constexpr auto no_unit = report::time_unit::nanoseconds;

bool shows_unicode() {
  std::setlocale(LC_CTYPE, "");
  return std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

/// What most terminals can be widened to, unless this one is narrower.
std::size_t width_of_output(output_file const& out) {
  constexpr std::size_t usual = 120;
  winsize size{};
  if (ioctl(fileno(out.stream()), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return usual;
  return std::min<std::size_t>(usual, size.ws_col);
}

report::table test_table() {
  using report::column_kind;
  return {"peak_tests",
          "Peak tests",
          {{"test"}, {"group"}, {"title"}, {"unit"}},
          [](std::function<void(report::row const&)> const& take) {
            for (auto const& test : peaks::all_tests())
              take({test.name, test.group, test.title, test.unit});
          }};
}

}  // namespace

void write_peaks(std::span<gpu_peaks const> gpus, std::vector<std::string> labels,
                 report_format format, output_file const& out) {
  auto const sink = [&out](std::string_view text) { out.put(text); };
  switch (format) {
    case report_format::json:
      return out.put(peaks::to_json(gpus));
    case report_format::csv:
      return report::write_csv(report::peaks_table(gpus), no_unit, sink);
    case report_format::tsv:
      return report::write_tsv(report::peaks_table(gpus), no_unit, sink);
    case report_format::table:
      return report::write_peaks(
          gpus,
          {.width = width_of_output(out), .blocks = shows_unicode(), .labels = std::move(labels)},
          sink);
  }
}

void write_test_list(report_format format, output_file const& out) {
  auto const sink = [&out](std::string_view text) { out.put(text); };
  switch (format) {
    case report_format::json:
      return report::write_json(test_table(), no_unit, sink);
    case report_format::csv:
      return report::write_csv(test_table(), no_unit, sink);
    case report_format::tsv:
      return report::write_tsv(test_table(), no_unit, sink);
    case report_format::table:
      return report::write_columns(test_table(), no_unit, sink);
  }
}

}  // namespace gpuprof
