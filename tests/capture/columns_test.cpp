// A version of the format is a set of columns: who changes the one changes the other.
#include "capture/format.hpp"
#include "capture/layout.hpp"
#include "report/golden.hpp"

#include <set>
#include <sstream>

using namespace gpuprof::capture;
using namespace gpuprof::test;

namespace {

/// "7 shape 13 arguments u32": a line for each column.
std::string columns_of_this_version() {
  std::string lines;
  for (auto const& table : all_tables())
    for (std::size_t place = 0; place < table.columns.size(); ++place) {
      auto const& column = table.columns[place];
      lines += std::to_string(table.number) + " " + std::string(table.name) + " " +
               std::to_string(place) + " " + std::string(column.name) + " " +
               std::string(name_of(column.type)) + "\n";
    }
  return lines;
}

std::string file_of(unsigned minor) {
  return "capture_columns_" + std::to_string(format_major) + "." + std::to_string(minor) + ".txt";
}

}  // namespace

// Where this fails after a change of tables.hpp: raise format_minor, say in capture/README.md what
// it adds, and write the new file with GPUPROF_UPDATE_GOLDEN=1.
TEST_CASE("the columns of a minor version never change") {
  check_golden(file_of(format_minor), columns_of_this_version());
}

TEST_CASE("a version keeps every column of those before it") {
  std::istringstream now(columns_of_this_version());
  std::set<std::string> kept;
  for (std::string line; std::getline(now, line);) kept.insert(line);
  int files = 0;
  for (unsigned minor = 0; minor <= format_minor; ++minor) {
    std::istringstream before(
        read_file(std::string(GPUPROF_TEST_DATA) + "/golden/" + file_of(minor)));
    for (std::string line; std::getline(before, line);) {
      INFO(file_of(minor) << ": " << line);
      CHECK(kept.contains(line));
    }
    files += !before.str().empty();
  }
  CHECK(files >= 1);
}

TEST_CASE("the description says what each minor version added") {
  auto const page = read_file(GPUPROF_CAPTURE_PAGE);
  CHECK(page.find("u16 minor version: " + std::to_string(format_minor)) != std::string::npos);
  for (auto const* const late : {"`shape.arguments`", "`sampled_launch.reading`", "`kernel_code`"})
    CHECK(page.find(late) != std::string::npos);
}
