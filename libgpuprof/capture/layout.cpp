// SPDX-License-Identifier: Apache-2.0
#include "capture/layout.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <new>

namespace gpuprof::capture {
namespace {

template <class Value>
constexpr value_type type_of() {
  if constexpr (std::is_enum_v<Value>) {
    return type_of<std::underlying_type_t<Value>>();
  } else if constexpr (std::is_same_v<Value, bool>) {
    return value_type::boolean;
  } else if constexpr (std::is_same_v<Value, std::string_view>) {
    return value_type::text;
  } else if constexpr (std::is_same_v<Value, double>) {
    return value_type::f64;
  } else if constexpr (std::is_same_v<Value, std::int32_t>) {
    return value_type::i32;
  } else if constexpr (std::is_same_v<Value, std::int64_t>) {
    return value_type::i64;
  } else {
    static_assert(std::is_unsigned_v<Value>, "give this type of column a place in value_type");
    constexpr std::array types{value_type::u8, value_type::u16, value_type::u32, value_type::u64};
    return types[std::countr_zero(sizeof(Value))];
  }
}

template <class Row>
table_layout make_layout() {
  static_assert(std::is_trivially_copyable_v<Row>);
  table_layout layout{.number = table<Row>::number,
                      .name = table<Row>::name,
                      .definition = table<Row>::definition,
                      .has_text = false,
                      .row_bytes = sizeof(Row),
                      .columns = {}};
  Row const row{};
  table<Row>::columns([&](std::string_view name, auto access) {
    auto const& value = access(row);
    auto const offset =
        reinterpret_cast<std::byte const*>(&value) - reinterpret_cast<std::byte const*>(&row);
    constexpr auto type = type_of<std::remove_cvref_t<decltype(value)>>();
    layout.columns.push_back(
        {.name = name, .type = type, .offset = static_cast<std::size_t>(offset)});
    layout.has_text = layout.has_text || type == value_type::text;
  });
  return layout;
}

template <class... Row>
std::array<table_layout, table_count> make_layouts(std::type_identity<std::tuple<Row...>>) {
  return {make_layout<Row>()...};
}

// Calls f with a value of the C++ type of a column.
template <class F>
void with_type(value_type type, F&& f) noexcept {
  switch (type) {
    case value_type::u8:
      return f(std::uint8_t{});
    case value_type::u16:
      return f(std::uint16_t{});
    case value_type::u32:
      return f(std::uint32_t{});
    case value_type::i32:
      return f(std::int32_t{});
    case value_type::u64:  // copies all bits unchanged
    case value_type::i64:
    case value_type::f64:
      return f(std::uint64_t{});
    case value_type::boolean:
      return f(bool{});
    case value_type::text:
      return f(std::string_view{});
  }
}

}  // namespace

std::string_view name_of(value_type type) noexcept {
  constexpr std::array<std::string_view, 9> names{"u8",  "u16", "u32",  "u64", "i32",
                                                  "i64", "f64", "bool", "text"};
  return names[static_cast<std::size_t>(type)];
}

// Never destroyed, because a writer may still be in use while the process destroys its globals.
std::span<table_layout const, table_count> all_tables() {
  static auto const& layouts =
      *new std::array<table_layout, table_count>{make_layouts(std::type_identity<row_types>{})};
  return layouts;
}

void gather(column_layout const& column, std::byte const* rows, std::size_t row_bytes,
            std::span<std::uint64_t> out) noexcept {
  with_type(column.type, [&](auto value) {
    auto const* from = rows + column.offset;
    for (auto& to : out) {
      std::memcpy(&value, from, sizeof value);
      if constexpr (std::is_same_v<decltype(value), std::string_view>) {
        to = value.size();
      } else {
        to = static_cast<std::uint64_t>(value);  // keeps the sign of negative numbers
      }
      from += row_bytes;
    }
  });
}

void scatter(std::span<std::uint64_t const> values, column_layout const& column, std::byte* rows,
             std::size_t row_bytes) noexcept {
  with_type(column.type, [&](auto value) {
    using type = decltype(value);
    if constexpr (!std::is_same_v<type, std::string_view>) {
      auto* to = rows + column.offset;
      for (auto const bits : values) {
        value = static_cast<type>(bits);
        std::memcpy(to, &value, sizeof value);
        to += row_bytes;
      }
    }
  });
}

std::string_view& text_at(std::byte* row, column_layout const& column) noexcept {
  return *std::launder(reinterpret_cast<std::string_view*>(row + column.offset));
}
std::string_view text_at(std::byte const* row, column_layout const& column) noexcept {
  return *std::launder(reinterpret_cast<std::string_view const*>(row + column.offset));
}

}  // namespace gpuprof::capture
