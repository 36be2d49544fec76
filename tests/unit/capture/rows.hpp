// SPDX-License-Identifier: Apache-2.0
// Rows for the capture tests: random in every column, comparable in every column.
#pragma once

#include "capture/reader.hpp"
#include "capture/writer.hpp"

#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace gpuprof::capture::test {

/// A path of its own in the temporary folder; the file is removed at the end.
class scratch_file {
 public:
  explicit scratch_file(std::string const& name = "capture") {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("gpuprof_" + name + "_" + std::to_string(getpid()) + "_" + std::to_string(count++));
    std::filesystem::remove(path_);
  }
  ~scratch_file() { std::filesystem::remove(path_); }
  scratch_file(scratch_file const&) = delete;
  scratch_file& operator=(scratch_file const&) = delete;

  std::string path() const { return path_.string(); }

  std::vector<char> bytes() const {
    std::ifstream in{path_, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  void replace(std::vector<char> const& bytes) const {
    std::ofstream out{path_, std::ios::binary | std::ios::trunc};
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

 private:
  std::filesystem::path path_;
};

/// A file in memory, for tests that read thousands of variants of one.
class memory_file {
 public:
  memory_file() : descriptor_(memfd_create("capture", MFD_ALLOW_SEALING)) {}
  ~memory_file() { ::close(descriptor_); }
  memory_file(memory_file const&) = delete;
  memory_file& operator=(memory_file const&) = delete;

  int descriptor() const { return descriptor_; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }
  void replace(std::vector<char> const& bytes) const {
    if (ftruncate(descriptor_, 0) != 0 ||
        pwrite(descriptor_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
      throw std::runtime_error("cannot write a file in memory");
    }
  }

 private:
  int descriptor_;
};

/// Numbers as they occur: zeros, constants, slow growth, noise, every bit.
class random_rows {
 public:
  explicit random_rows(unsigned seed) : engine_(seed) {}

  template <class Row>
  std::vector<Row> rows(std::size_t count) {
    std::vector<Row> made(count);
    for (auto const& column : layout_of<Row>().columns) {
      fill(column, reinterpret_cast<std::byte*>(made.data()), sizeof(Row), count);
    }
    return made;
  }

 private:
  void fill(column_layout const& column, std::byte* rows, std::size_t row_bytes,
            std::size_t count) {
    auto const style = engine_() % 6;
    std::vector<std::uint64_t> values(count);
    auto value = engine_();
    for (auto& v : values) {
      if (style == 0) value = 0;
      if (style == 2) value += 1;
      if (style == 3) value += 2000 + engine_() % 97;
      if (style == 4) value = engine_() % 7;
      if (style == 5) value = engine_() >> engine_() % 64;
      v = value;
    }
    scatter(values, column, rows, row_bytes);
    if (column.type != value_type::text) return;
    for (std::size_t i = 0; i < count; ++i) {
      text_at(rows + i * row_bytes, column) =
          texts_.emplace_back(std::string(values[i] % 50, static_cast<char>('a' + values[i] % 26)));
    }
  }

  std::mt19937_64 engine_;
  std::deque<std::string> texts_;
};

inline bool same(std::byte const* a, std::byte const* b, table_layout const& layout) {
  for (auto const& column : layout.columns) {
    std::uint64_t x = 0;
    std::uint64_t y = 0;
    gather(column, a, layout.row_bytes, {&x, 1});
    gather(column, b, layout.row_bytes, {&y, 1});
    if (x != y) return false;
    if (column.type == value_type::text && text_at(a, column) != text_at(b, column)) return false;
  }
  return true;
}

/// Bit for bit, padding apart.
template <class Row>
bool same(Row const& a, Row const& b) {
  return same(reinterpret_cast<std::byte const*>(&a), reinterpret_cast<std::byte const*>(&b),
              layout_of<Row>());
}

template <class Row>
bool same(std::vector<Row> const& a, std::vector<Row> const& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](Row const& x, Row const& y) { return same(x, y); });
}

/// True when `part` is how `whole` begins.
template <class Row>
bool begins(std::vector<Row> const& part, std::vector<Row> const& whole) {
  return part.size() <= whole.size() &&
         std::equal(part.begin(), part.end(), whole.begin(),
                    [](Row const& x, Row const& y) { return same(x, y); });
}

/// Rows without texts only: a row's texts do not outlive the call that shows it.
template <class Row>
std::vector<Row> all(reader& capture, column_set<Row> wanted = {}) {
  if (layout_of<Row>().has_text) throw std::logic_error("texts do not outlive the call");
  std::vector<Row> rows;
  capture.for_each<Row>(
      [&](std::span<Row const> some) { rows.insert(rows.end(), some.begin(), some.end()); },
      wanted);
  return rows;
}

/// Calls f with a value of each type of row.
template <class F>
void for_every_table(F&& f) {
  [&]<class... Row>(std::type_identity<std::tuple<Row...>>) {
    (f(std::type_identity<Row>{}), ...);
  }(std::type_identity<row_types>{});
}

}  // namespace gpuprof::capture::test
