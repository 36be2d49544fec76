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
#include <string>
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

/// Numbers as they occur: zeros, constants, slow growth, noise, every bit.
class random_rows {
 public:
  explicit random_rows(unsigned seed) : engine_(seed) {}

  template <class Row>
  std::vector<Row> rows(std::size_t count) {
    std::vector<Row> made(count);
    for_each_column<Row>([&](std::size_t, auto access) { fill(made, access); });
    return made;
  }

 private:
  template <class Row>
  void fill(std::vector<Row>& made, auto access) {
    auto const style = engine_() % 6;
    auto value = engine_();
    for (auto& row : made) {
      if (style == 0) value = 0;
      if (style == 2) value += 1;
      if (style == 3) value += 2000 + engine_() % 97;
      if (style == 4) value = engine_() % 7;
      if (style == 5) value = engine_() >> engine_() % 64;
      assign(access(row), value);
    }
  }

  template <class Value>
  void assign(Value& to, std::uint64_t bits) {
    if constexpr (std::is_same_v<Value, std::string_view>) {
      to = texts_.emplace_back(std::string(bits % 50, static_cast<char>('a' + bits % 26)));
    } else if constexpr (std::is_same_v<Value, double>) {
      to = static_cast<double>(bits) / 3;
    } else if constexpr (std::is_same_v<Value, bool>) {
      to = bits % 2 == 1;
    } else {
      to = static_cast<Value>(bits);
    }
  }

  std::mt19937_64 engine_;
  std::deque<std::string> texts_;
};

template <class Row>
bool same(Row const& a, Row const& b) {
  bool equal = true;
  for_each_column<Row>([&](std::size_t, auto access) { equal = equal && access(a) == access(b); });
  return equal;
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
  static_assert(!has_text<Row>);
  std::vector<Row> rows;
  capture.for_each<Row>(
      [&](std::span<Row const> some) { rows.insert(rows.end(), some.begin(), some.end()); },
      wanted);
  return rows;
}

}  // namespace gpuprof::capture::test
