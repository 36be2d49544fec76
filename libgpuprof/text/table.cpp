// SPDX-License-Identifier: Apache-2.0
#include "text/table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace gpuprof::text {
namespace {

struct unit_facts {
  char const* suffix;
  double nanoseconds;
  int digits;  // so that whole nanoseconds stay visible
};

constexpr unit_facts facts_of(time_unit unit) noexcept {
  switch (unit) {
    case time_unit::nanoseconds:
      break;
    case time_unit::microseconds:
      return {"us", 1e3, 3};
    case time_unit::milliseconds:
      return {"ms", 1e6, 6};
    case time_unit::seconds:
      return {"s", 1e9, 9};
  }
  return {"ns", 1, 0};
}

void append_integer(std::string& out, std::int64_t value) {
  char text[24];
  auto const end = std::to_chars(text, text + sizeof text, value).ptr;
  out.append(text, end);
}

void append_fixed(std::string& out, double value, int digits) {
  if (!std::isfinite(value)) return;  // JSON and the other formats have no common notation for it
  char text[400];
  auto const end =
      std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, digits).ptr;
  auto const is_zero =
      std::all_of<char const*>(text, end, [](char c) { return c == '-' || c == '0' || c == '.'; });
  out.append(is_zero && text[0] == '-' ? text + 1 : text, end);
}

void append_shortest(std::string& out, double value) {
  if (!std::isfinite(value)) return;
  char text[32];
  auto const end = std::to_chars(text, text + sizeof text, value).ptr;
  out.append(text, end);
}

void append_without_exponent(std::string& out, double value) {
  if (!std::isfinite(value)) return;
  char text[400];
  auto const end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed).ptr;
  out.append(text, end);
}

double as_double(cell const& value) noexcept {
  if (auto const* const whole = std::get_if<std::int64_t>(&value))
    return static_cast<double>(*whole);
  if (auto const* const number = std::get_if<double>(&value)) return *number;
  return 0;
}

}  // namespace

bool is_number(column_kind kind) noexcept {
  return kind != column_kind::text;
}

std::string header_of(column const& column, time_unit unit) {
  switch (column.kind) {
    case column_kind::share:
      return column.name + " (%)";
    case column_kind::time:
    case column_kind::mean_time:
    case column_kind::rough_time:
      return column.name + " (" + facts_of(unit).suffix + ")";
    case column_kind::size:
      return column.name + " (MB)";
    case column_kind::throughput:
      return column.name + " (MB/s)";
    case column_kind::text:
    case column_kind::integer:
    case column_kind::decimal:
    case column_kind::number:
    case column_kind::amount:
      break;
  }
  return column.name;
}

table first_rows(table const& of, std::size_t count, std::shared_ptr<std::size_t> left_out) {
  auto first = of;
  first.each_row = [all = of.each_row, count,
                    left_out = std::move(left_out)](std::function<void(row const&)> const& take) {
    std::size_t seen = 0;
    all([&](row const& cells) {
      if (seen++ < count) take(cells);
    });
    *left_out = seen > count ? seen - count : 0;
  };
  return first;
}

cell number_cell(std::optional<double> value) {
  if (!value || !std::isfinite(*value)) return {};
  constexpr double whole_below = 9007199254740992;  // 2^53
  if (std::trunc(*value) == *value && std::abs(*value) < whole_below)
    return static_cast<std::int64_t>(*value);
  return *value;
}

void append_cell(std::string& out, cell const& value, column_kind kind, time_unit unit) {
  if (std::holds_alternative<std::monostate>(value)) return;
  if (auto const* const text = std::get_if<std::string_view>(&value)) {
    out += *text;
    return;
  }
  auto const time = facts_of(unit);
  switch (kind) {
    case column_kind::text:
    case column_kind::integer:
      if (auto const* const whole = std::get_if<std::int64_t>(&value))
        append_integer(out, *whole);
      else
        append_fixed(out, std::get<double>(value), 1);
      return;
    case column_kind::share:
    case column_kind::decimal:
      return append_fixed(out, as_double(value), 1);
    case column_kind::number:
      if (auto const* const whole = std::get_if<std::int64_t>(&value))
        return append_integer(out, *whole);
      return append_shortest(out, as_double(value));
    case column_kind::amount:
      return append_without_exponent(out, as_double(value));
    case column_kind::time:
      if (unit == time_unit::nanoseconds && std::holds_alternative<std::int64_t>(value))
        return append_integer(out, std::get<std::int64_t>(value));
      return append_fixed(out, as_double(value) / time.nanoseconds, time.digits);
    case column_kind::mean_time:
      return append_fixed(out, as_double(value) / time.nanoseconds,
                          unit == time_unit::nanoseconds ? 1 : time.digits);
    case column_kind::rough_time:
      return append_fixed(out, as_double(value) / time.nanoseconds,
                          unit == time_unit::nanoseconds ? 1 : 3);
    case column_kind::size:
    case column_kind::throughput:
      return append_fixed(out, as_double(value) / 1e6, 3);
  }
}

}  // namespace gpuprof::text
