// SPDX-License-Identifier: Apache-2.0
// Records come in order of time, whatever their order in the file.
#include "capture/writer.hpp"
#include "host/reading/time_merge.hpp"
#include "support/catch.hpp"
#include "support/scratch_folder.hpp"

#include <algorithm>
#include <random>

using namespace gpuprof;
using namespace gpuprof::host;

namespace {

struct file {
  test::scratch_folder scratch;
  std::unique_ptr<capture::writer> out =
      std::move(*capture::writer::create(scratch / "a.gpuprof", capture::create_mode::overwrite));

  void kernel(std::uint64_t start, std::uint32_t correlation) {
    kernel_record row;
    row.start.value = start;
    row.correlation = correlation_id{correlation};
    out->add(row);
  }
  void block_ends() { REQUIRE(out->flush()); }
  capture::reader read() {
    REQUIRE(out->close());
    return std::move(*capture::reader::open(scratch / "a.gpuprof"));
  }
};

std::vector<std::uint32_t> correlations_of(capture::reader& reader) {
  std::vector<std::uint32_t> found;
  ordered_rows<kernel_record> rows(reader);
  while (auto const* row = rows.next()) found.push_back(raw(row->correlation));
  return found;
}

}  // namespace

TEST_CASE("rows of overlapping blocks are sorted by time, and equal times keep the file order") {
  file f;
  f.kernel(50, 1);
  f.kernel(10, 2);
  f.kernel(90, 3);
  f.block_ends();
  f.kernel(20, 4);
  f.kernel(50, 5);
  f.block_ends();
  f.kernel(5, 6);
  f.block_ends();
  f.kernel(100, 7);
  auto reader = f.read();
  CHECK(correlations_of(reader) == std::vector<std::uint32_t>{6, 2, 4, 1, 5, 3, 7});
}

TEST_CASE("a table without rows has no first row") {
  file f;
  auto reader = f.read();
  ordered_rows<kernel_record> rows(reader);
  CHECK(rows.peek() == nullptr);
  CHECK(rows.next() == nullptr);
}

TEST_CASE("every row comes once and in order, however blocks and times are mixed") {
  std::mt19937 random(11);
  file f;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> wanted;
  for (std::uint32_t i = 1; i <= 20000; ++i) {
    std::uint64_t const start = 1 + random() % 5000 + (i / 500) * 40;
    f.kernel(start, i);
    wanted.emplace_back(start, i);
    if (random() % 400 == 0) f.block_ends();
  }
  std::stable_sort(wanted.begin(), wanted.end(),
                   [](auto const& a, auto const& b) { return a.first < b.first; });
  auto reader = f.read();
  ordered_rows<kernel_record> rows(reader);
  for (auto const& [start, correlation] : wanted) {
    auto const* row = rows.next();
    REQUIRE(row != nullptr);
    REQUIRE(row->start.value == start);
    REQUIRE(raw(row->correlation) == correlation);
  }
  CHECK(rows.next() == nullptr);
}

TEST_CASE("windows give the rows that begin inside one, from its beginning until before its end") {
  file f;
  for (std::uint32_t const start : {10, 90, 20}) f.kernel(start, start);
  f.block_ends();
  for (std::uint32_t const start : {30, 40}) f.kernel(start, start);
  f.block_ends();
  for (std::uint32_t const start : {80, 15, 99}) f.kernel(start, start);
  auto reader = f.read();
  std::vector<std::uint32_t> found;
  auto const keep = [&](kernel_record const& row) { found.push_back(raw(row.correlation)); };
  for_each_in_time<kernel_record>(reader, keep, {{{15}, {21}}, {{80}, {99}}});
  CHECK(found == std::vector<std::uint32_t>{15, 20, 80, 90});
}

TEST_CASE("columns that were not requested keep their default, and the time is always read") {
  file f;
  f.kernel(7, 3);
  auto reader = f.read();
  ordered_rows<kernel_record> rows(reader, capture::only(&kernel_record::duration));
  auto const* row = rows.next();
  REQUIRE(row != nullptr);
  CHECK(row->start.value == 7);
  CHECK(raw(row->correlation) == 0);
}

TEST_CASE("several tables make one stream; equal times keep the order in which tables are named") {
  file f;
  f.kernel(30, 1);
  f.kernel(10, 2);
  copy_record copy;
  copy.start.value = 30;
  copy.correlation = correlation_id{3};
  f.out->add(copy);
  mark_record mark;
  mark.time.value = 20;
  f.out->add(mark);
  auto reader = f.read();
  std::vector<std::string> found;
  struct visitor {
    std::vector<std::string>& found;
    void operator()(kernel_record const& k) {
      found.push_back("k" + std::to_string(raw(k.correlation)));
    }
    void operator()(copy_record const& c) {
      found.push_back("c" + std::to_string(raw(c.correlation)));
    }
    void operator()(mark_record const&) { found.emplace_back("m"); }
  };
  for_each_in_time<copy_record, kernel_record, mark_record>(reader, visitor{found});
  CHECK(found == std::vector<std::string>{"k2", "m", "c3", "k1"});
}

TEST_CASE(
    "a stream of several tables is sorted by time, then by table, however often times are equal") {
  std::mt19937 random(7);
  file f;
  std::vector<std::pair<std::uint64_t, char>> wanted;  // copies are named first, then kernels
  for (std::uint32_t i = 0; i < 3000; ++i) {
    copy_record copy;
    mark_record mark;
    copy.start.value = random() % 1000;
    mark.time.value = random() % 1000;
    auto const start = random() % 1000;
    f.out->add(copy);
    f.kernel(start, i);
    f.out->add(mark);
    wanted.insert(wanted.end(), {{copy.start.value, 'a'}, {start, 'b'}, {mark.time.value, 'c'}});
    if (random() % 400 == 0) f.block_ends();
  }
  std::sort(wanted.begin(), wanted.end());
  auto reader = f.read();
  struct visitor {
    std::vector<std::pair<std::uint64_t, char>>& found;
    void operator()(copy_record const& copy) { found.emplace_back(copy.start.value, 'a'); }
    void operator()(kernel_record const& kernel) { found.emplace_back(kernel.start.value, 'b'); }
    void operator()(mark_record const& mark) { found.emplace_back(mark.time.value, 'c'); }
  };
  std::vector<std::pair<std::uint64_t, char>> found;
  for_each_in_time<copy_record, kernel_record, mark_record>(reader, visitor{found});
  CHECK(found == wanted);
}
