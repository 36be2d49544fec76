// SPDX-License-Identifier: Apache-2.0
// Reads the single values in an extended payload.
#include "guest/nvtx/payload_values.hpp"

#include "base/own_arithmetic.hpp"
#include "guest/nvtx/headers.hpp"
#include "guest/nvtx/text.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

namespace gpuprof::guest {
namespace {

template <class Number, class... Base>
void append_number(std::string& out, Number number, Base... base) {
  char text[40];
  auto const end = std::to_chars(text, text + sizeof text, number, base...).ptr;
  out.append(text, end);
}

}  // namespace

void append_json(std::string& out, double number) {
  if (!std::isfinite(number)) {
    out += "null";
    return;
  }
  append_number(out, number);
}

void append_json(std::string& out, std::int64_t number) {
  append_number(out, number);
}

void append_json(std::string& out, std::uint64_t number) {
  append_number(out, number);
}

void append_hex(std::string& out, std::uint64_t number) {
  out += "\"0x";
  append_number(out, number, 16);
  out += '"';
}

namespace {

using bytes = std::span<std::byte const>;

template <class T>
std::optional<T> read_as(bytes from) noexcept {
  if (from.size() < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, from.data(), sizeof value);
  return value;
}

double half_to_double(std::uint64_t bits) noexcept {
  auto const exponent = static_cast<int>(bits >> 10 & 31);
  auto const fraction = static_cast<double>(bits & 1023);
  double value = 0;
  if (exponent == 31) {
    value = fraction == 0 ? HUGE_VAL : std::nan("");
  } else if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else {
    value = std::ldexp(1024 + fraction, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

/// Volatile, because the compiler may otherwise move the conversion out of the block.
double to_double(long double value) noexcept {
  whole_environment const exact;
  auto const volatile converted = static_cast<double>(value);
  return converted;
}

enum class number_kind { none, integer, natural, half, bfloat, single, twice, extended, address };

number_kind kind_of(std::uint64_t type) noexcept {
  switch (type) {
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR:
    case NVTX_PAYLOAD_ENTRY_TYPE_SHORT:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT:
    case NVTX_PAYLOAD_ENTRY_TYPE_LONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_LONGLONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT8:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT16:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT64:
      return number_kind::integer;
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16:
      return number_kind::half;
    case NVTX_PAYLOAD_ENTRY_TYPE_BF16:
      return number_kind::bfloat;
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_TF32:
      return number_kind::single;
    case NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64:
      return number_kind::twice;
    case NVTX_PAYLOAD_ENTRY_TYPE_LONGDOUBLE:
      return number_kind::extended;
    case NVTX_PAYLOAD_ENTRY_TYPE_ADDRESS:
    case NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB:
      return number_kind::address;
    default:
      break;
  }
  auto const size = layout_of_predefined(type).size;
  return size >= 1 && size <= 8 && !is_string(type) ? number_kind::natural : number_kind::none;
}

}  // namespace

bool is_string(std::uint64_t type) noexcept {
  return type >= NVTX_PAYLOAD_ENTRY_TYPE_CSTRING && type <= NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32;
}

bool is_embedded_string(schema_entry const& entry) noexcept {
  constexpr std::uint64_t array_bits = 7u << 4;
  return is_string(entry.type) && ((entry.flags & array_bits) != 0 || entry.detail > 0);
}

std::uint32_t unit_of_string(std::uint64_t type) noexcept {
  if (type == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16) return 2;
  return type == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32 ? 4 : 1;
}

std::uint64_t length_to_zero(bytes text, std::uint32_t unit) noexcept {
  for (std::size_t i = 0; i + unit <= text.size(); i += unit) {
    if (read_little(text.subspan(i), unit) == 0u) return i + unit;
  }
  return text.size();
}

std::string string_to_utf8(std::uint64_t type, bytes text, bool stop_at_zero, std::size_t limit) {
  auto const unit = unit_of_string(type);
  std::string out;
  for (std::size_t i = 0; i + unit <= text.size() && out.size() + 4 <= limit; i += unit) {
    auto c = static_cast<char32_t>(*read_little(text.subspan(i), unit));
    if (c == 0 && stop_at_zero) break;
    if (unit == 1) {
      out += static_cast<char>(c);
      continue;
    }
    if (unit == 2 && c >= 0xd800 && c < 0xdc00 && i + 4 <= text.size()) {  // a surrogate pair
      auto const low = static_cast<char32_t>(*read_little(text.subspan(i + 2), 2));
      if (low >= 0xdc00 && low < 0xe000) {
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        i += 2;
      }
    }
    char character[4];
    out.append(character, put_utf8(c, character));
  }
  return out;
}

std::optional<std::uint64_t> read_little(bytes from, std::uint64_t size) noexcept {
  if (size == 0 || size > 8 || from.size() < size) return std::nullopt;
  std::uint64_t value = 0;
  std::memcpy(&value, from.data(), static_cast<std::size_t>(size));
  return value;
}

std::optional<std::uint64_t> read_unsigned(std::uint64_t type, bytes from) noexcept {
  auto const kind = kind_of(type);
  auto const size = layout_of_predefined(type).size;
  if (kind == number_kind::natural || kind == number_kind::address) return read_little(from, size);
  if (kind != number_kind::integer) return std::nullopt;
  auto const value = read_little(from, size);
  if (!value) return std::nullopt;
  auto const unused = 64 - 8 * size;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(*value << unused) >> unused);
}

std::string name_of_value(payload_schema const& enumeration, std::uint64_t value) {
  for (auto const& known : enumeration.values) {
    if (known.value == value) return known.name;
  }
  std::string flags;
  auto rest = value;
  for (auto const& known : enumeration.values) {
    if (!known.is_flag || known.value == 0 || (value & known.value) != known.value) continue;
    if (flags.size() > 256) return {};
    flags += flags.empty() ? "" : "|";
    flags += known.name;
    rest &= ~known.value;
  }
  return rest == 0 ? flags : std::string{};
}

void append_value(std::string& out, std::uint64_t type, bytes from) {
  auto const kind = kind_of(type);
  auto const size = layout_of_predefined(type).size;
  if (kind == number_kind::none || from.size() < size) {
    out += "null";
    return;
  }
  switch (kind) {
    case number_kind::integer:
      return append_json(out, static_cast<std::int64_t>(*read_unsigned(type, from)));
    case number_kind::natural:
      return append_json(out, *read_little(from, size));
    case number_kind::address:
      return append_hex(out, *read_little(from, size));
    case number_kind::half:
      return append_json(out, half_to_double(*read_little(from, 2)));
    case number_kind::bfloat:
      return append_json(
          out,
          double{std::bit_cast<float>(static_cast<std::uint32_t>(*read_little(from, 2) << 16))});
    case number_kind::single:
      return append_json(out, double{*read_as<float>(from)});
    case number_kind::twice:
      return append_json(out, *read_as<double>(from));
    case number_kind::extended:
      return append_json(out, to_double(*read_as<long double>(from)));
    case number_kind::none:
      return;
  }
}

}  // namespace gpuprof::guest
