#include "peaks_output.hpp"

#include "peaks/peaks_json.hpp"
#include "peaks/test_list.hpp"
#include "report/peaks_table.hpp"

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstring>
#include <langinfo.h>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace gpuprof {
namespace {

constexpr auto no_unit = report::time_unit::nanoseconds;

void put(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

result<void> finished() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return {};
  return error{"writing to standard output failed: " + std::string(std::strerror(errno))};
}

bool shows_unicode() {
  std::setlocale(LC_CTYPE, "");
  return std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

/// What most terminals can be widened to, unless this one is narrower.
std::size_t width_of_output() {
  constexpr std::size_t usual = 120;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return usual;
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

result<void> print_peaks(std::span<gpu_peaks const> gpus, std::vector<std::string> labels,
                         peaks_format format) {
  switch (format) {
    case peaks_format::json:
      put(peaks::to_json(gpus));
      break;
    case peaks_format::csv:
      report::write_csv(report::peaks_table(gpus), no_unit, put);
      break;
    case peaks_format::text:
      report::write_peaks(
          gpus,
          {.width = width_of_output(), .blocks = shows_unicode(), .labels = std::move(labels)},
          put);
      break;
  }
  return finished();
}

result<void> print_test_list(peaks_format format) {
  switch (format) {
    case peaks_format::json:
      report::write_json(test_table(), no_unit, put);
      break;
    case peaks_format::csv:
      report::write_csv(test_table(), no_unit, put);
      break;
    case peaks_format::text:
      report::write_columns(test_table(), no_unit, put);
      break;
  }
  return finished();
}

}  // namespace gpuprof
