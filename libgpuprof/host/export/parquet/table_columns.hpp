// SPDX-License-Identifier: Apache-2.0
// Columns of an exported table, and how each takes its values from rows in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpuprof::host {

/// All integers are signed 64-bit, because SQL engines disagree about other types.
enum class column_kind {
  rising,  // an integer that grows from row to row: a time, a correlation
  number,
  real,
  flag,
  text,
  plain_text,  // a text that differs in each row
};

inline constexpr std::int64_t no_number = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int32_t no_text = -1;

/// Values of some rows, in the member that the column's kind uses. no_number and no_text mean null.
struct column_values {
  std::vector<std::int64_t> numbers;
  std::vector<double> reals;
  std::vector<std::uint8_t> flags;
  std::vector<std::int32_t> codes;  // indexes into the column's texts
  std::vector<std::optional<std::string>> texts;
};

/// The distinct texts of a column, each with a number.
class text_list {
 public:
  /// The text must outlive this object.
  std::int32_t code_of(std::string_view text) {
    auto const [at, is_new] = codes_.try_emplace(text, static_cast<std::int32_t>(texts_.size()));
    if (is_new) texts_.push_back(text);
    return at->second;
  }
  std::vector<std::string_view> const& texts() const noexcept { return texts_; }

 private:
  std::unordered_map<std::string_view, std::int32_t> codes_;
  std::vector<std::string_view> texts_;
};

struct table_column {
  std::string name;
  column_kind kind{};
  std::string unit;
  bool optional = true;                    // a value may be null
  std::shared_ptr<text_list const> texts;  // of a text column: all texts that occur
  std::function<void(std::byte const* rows, std::size_t count, column_values& out)> read;
};

/// `value_of(row)` is an integer, never null.
template <class Row, class F>
table_column number_column(std::string name, column_kind kind, std::string unit, F value_of) {
  return {std::move(name),
          kind,
          std::move(unit),
          false,
          nullptr,
          [value_of](std::byte const* rows, std::size_t count, column_values& out) {
            auto const* const row = reinterpret_cast<Row const*>(rows);
            out.numbers.resize(count);
            for (std::size_t i = 0; i < count; ++i)
              out.numbers[i] = static_cast<std::int64_t>(value_of(row[i]));
          }};
}

/// `value_of(row)` is an integer, or no_number for null.
template <class Row, class F>
table_column optional_column(std::string name, column_kind kind, std::string unit, F value_of) {
  auto made = number_column<Row>(std::move(name), kind, std::move(unit), value_of);
  made.optional = true;
  return made;
}

/// `value_of(row)` is a double; values that are not finite become null.
template <class Row, class F>
table_column real_column(std::string name, std::string unit, F value_of) {
  return {std::move(name),
          column_kind::real,
          std::move(unit),
          true,
          nullptr,
          [value_of](std::byte const* rows, std::size_t count, column_values& out) {
            auto const* const row = reinterpret_cast<Row const*>(rows);
            out.reals.resize(count);
            for (std::size_t i = 0; i < count; ++i) out.reals[i] = value_of(row[i]);
          }};
}

template <class Row, class F>
table_column flag_column(std::string name, F is) {
  return {std::move(name),
          column_kind::flag,
          {},
          false,
          nullptr,
          [is](std::byte const* rows, std::size_t count, column_values& out) {
            auto const* const row = reinterpret_cast<Row const*>(rows);
            out.flags.resize(count);
            for (std::size_t i = 0; i < count; ++i) out.flags[i] = is(row[i]) ? 1 : 0;
          }};
}

/// `code_of(row)` is an index into `texts`, or no_text.
template <class Row, class F>
table_column text_column(std::string name, std::shared_ptr<text_list const> texts,
                         F const& code_of) {
  return {std::move(name),
          column_kind::text,
          {},
          true,
          std::move(texts),
          [code_of](std::byte const* rows, std::size_t count, column_values& out) {
            auto const* const row = reinterpret_cast<Row const*>(rows);
            out.codes.resize(count);
            for (std::size_t i = 0; i < count; ++i) out.codes[i] = code_of(row[i]);
          }};
}

}  // namespace gpuprof::host
