// SPDX-License-Identifier: Apache-2.0
#include "guest/recording/source_lines.hpp"

#include "base/time.hpp"
#include "support/catch.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

constexpr timestamp_ns at_any_time{~std::uint64_t{0}};

struct made_file {
  std::string path = "/tmp/gpuprof-source-XXXXXX";
  explicit made_file(std::string const& text) {
    auto const descriptor = mkstemp(path.data());
    REQUIRE(descriptor >= 0);
    close(descriptor);
    std::ofstream(path, std::ios::binary) << text;
  }
  ~made_file() { std::remove(path.c_str()); }
};

std::vector<std::string> lines_of(std::string const& path,
                                  std::vector<std::uint32_t> const& numbers,
                                  timestamp_ns since = at_any_time) {
  std::vector<source_place> places;
  for (auto const number : numbers) places.push_back({static_cast<name_id>(1), number});
  std::vector<std::string> found;
  for (auto const& line : read_source_lines(path, places, since))
    found.push_back(std::to_string(line.place.line) + ":" + line.text);
  return found;
}

using texts = std::vector<std::string>;

}  // namespace

TEST_CASE("lines are found in any order, and without the blanks around them") {
  made_file const file("first\n\n  third \t\r\nlast");
  CHECK(lines_of(file.path, {4, 1, 3, 2, 3}) == texts{"1:first", "3:third", "3:third", "4:last"});
  CHECK(lines_of(file.path, {0, 5, 4'000'000'000u}).empty());
  made_file const ended("a\nb\n");
  CHECK(lines_of(ended.path, {2, 3}) == texts{"2:b"});
  made_file const empty("");
  CHECK(lines_of(empty.path, {1}).empty());
}

TEST_CASE("a long line is cut") {
  made_file const file(std::string(100'000, 'x'));
  CHECK(lines_of(file.path, {1}) == texts{"1:" + std::string(240, 'x')});
}

TEST_CASE("what is no unchanged regular file has no lines") {
  made_file const file("line\n");
  CHECK(lines_of(file.path, {1}, {1}).empty());  // changed after that moment
  CHECK(lines_of("/tmp", {1}).empty());
  CHECK(lines_of("/dev/zero", {1}).empty());
  CHECK(lines_of("/no/such/file.py", {1}).empty());
  auto const pipe = file.path + ".pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(lines_of(pipe, {1}).empty());  // without a writer; it must not wait
  std::remove(pipe.c_str());
}
