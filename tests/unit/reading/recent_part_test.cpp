// SPDX-License-Identifier: Apache-2.0
// Which blocks of a long capture are left for figures of its last seconds.
#include "host/reading/recent_part.hpp"

#include "capture/writer.hpp"
#include "support/catch.hpp"
#include "support/scratch_folder.hpp"

#include <vector>

using namespace gpuprof;
using namespace gpuprof::host;

namespace {

constexpr std::uint64_t second = 1'000'000'000;
constexpr std::uint64_t no_end = ~std::uint64_t{0};

/// A block for each second.
struct long_capture {
  test::scratch_folder scratch;
  std::unique_ptr<capture::writer> out =
      std::move(*capture::writer::create(scratch / "a.gpuprof", capture::create_mode::overwrite));

  void kernel(std::uint64_t start_s) {
    kernel_record row;
    row.start.value = start_s * second;
    out->add(row);
  }
  void kernels(std::uint64_t seconds) {
    for (std::uint64_t s = 1; s <= seconds; ++s) {
      kernel(s);
      block_ends();
    }
  }
  void reading(std::uint64_t at_s) {
    read_launch_record row;
    row.opened.value = at_s * second;
    row.closed.value = at_s * second + 1000;
    out->add(row);
  }
  void block_ends() { REQUIRE(out->flush()); }
  capture::reader read() {
    REQUIRE(out->close());
    return std::move(*capture::reader::open(scratch / "a.gpuprof"));
  }
};

/// Starts of the kernels that are left, in seconds.
std::vector<std::uint64_t> left_in(capture::reader& file) {
  std::vector<std::uint64_t> starts;
  file.for_each<kernel_record>([&](std::span<kernel_record const> rows) {
    for (auto const& row : rows) starts.push_back(row.start.value / second);
  });
  return starts;
}

}  // namespace

TEST_CASE("the last seconds of a long capture are found without decoding the rest") {
  long_capture made;
  made.kernels(1000);
  auto file = made.read();
  auto const part = keep_recent(file, {5 * second, no_end});
  CHECK(part.begin.value == 995 * second);
  CHECK(part.end.value == no_end);
  CHECK(file.rows_decoded<kernel_record>() < 30);
  auto const left = left_in(file);
  CHECK(left.front() == 985);  // records may come 10 s late
  CHECK(left.back() == 1000);
  CHECK(file.row_count<kernel_record>() == 16);
}

TEST_CASE("work at the time of a reading is left, however long ago") {
  long_capture made;
  made.reading(300);
  made.kernels(1000);
  auto file = made.read();
  keep_recent(file, {5 * second, no_end});
  auto const left = left_in(file);
  CHECK(left.front() == 290);
  CHECK(std::count_if(left.begin(), left.end(), [](auto s) { return s < 900; }) == 21);
}

TEST_CASE("a record that came late is in the last seconds") {
  long_capture made;
  made.kernels(1000);
  made.kernel(994);
  made.kernel(1001);
  auto file = made.read();
  keep_recent(file, {7 * second, no_end});
  auto const left = left_in(file);
  CHECK(std::count(left.begin(), left.end(), 994) == 2);
}

TEST_CASE("a part that ends early leaves what came before its end") {
  long_capture made;
  made.kernels(1000);
  auto file = made.read();
  auto const part = keep_recent(file, {5 * second, 500 * second});
  CHECK(part.begin.value == 495 * second);
  auto const left = left_in(file);
  CHECK(left.front() == 485);
  CHECK(left.back() == 510);
}

TEST_CASE("a short capture is left whole") {
  long_capture made;
  made.kernels(3);
  auto file = made.read();
  keep_recent(file, {5 * second, no_end});
  CHECK(left_in(file) == std::vector<std::uint64_t>{1, 2, 3});
}

TEST_CASE("a capture without work has no last seconds") {
  long_capture made;
  auto file = made.read();
  CHECK(keep_recent(file, {5 * second, no_end}).begin.value == 0);
}
