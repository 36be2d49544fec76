// The JSON format: an array of objects that every parser takes.
#include "report/table.hpp"

namespace gpuprof::report {
namespace {

/// Length of the UTF-8 sequence at the start of `text`; 0 when it is not one.
std::size_t utf8_length(std::string_view text) noexcept {
  auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  auto const first = byte(0);
  std::size_t const length = first < 0x80                     ? 1
                             : first >= 0xC2 && first <= 0xDF ? 2
                             : first >= 0xE0 && first <= 0xEF ? 3
                             : first >= 0xF0 && first <= 0xF4 ? 4
                                                              : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  // Overlong forms, surrogates, beyond U+10FFFF.
  if (first == 0xE0 && byte(1) < 0xA0) return 0;
  if (first == 0xED && byte(1) > 0x9F) return 0;
  if (first == 0xF0 && byte(1) < 0x90) return 0;
  if (first == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

void append_escaped(std::string& out, char c) {
  constexpr char digits[] = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  auto const byte = static_cast<unsigned char>(c);
  if (byte >= 0x20) {
    out += c;
    return;
  }
  out += "\\u00";
  out += digits[byte >> 4];
  out += digits[byte & 15];
}

void append_value(std::string& out, cell const& value, column_kind kind, time_unit unit) {
  if (auto const* const text = std::get_if<std::string_view>(&value))
    return append_json_string(out, *text);
  auto const before = out.size();
  append_cell(out, value, kind, unit);
  if (out.size() == before) out += "null";
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    auto const length = utf8_length(text.substr(i));
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      ++i;
    } else if (length == 1) {
      append_escaped(out, text[i++]);
    } else {
      out += text.substr(i, length);
      i += length;
    }
  }
  out += '"';
}

void write_json(table const& table, time_unit unit, text_sink const& out) {
  std::vector<std::string> keys;
  for (auto const& column : table.columns) {
    append_json_string(keys.emplace_back(), header_of(column, unit));
  }
  std::string text = "[";
  bool first = true;
  table.each_row([&](row const& cells) {
    text += first ? "\n  {" : ",\n  {";
    first = false;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) text += ", ";
      text += keys[i];
      text += ": ";
      append_value(text, cells[i], table.columns[i].kind, unit);
    }
    text += '}';
    out(text);
    text.clear();
  });
  text += first ? "]\n" : "\n]\n";
  out(text);
}

}  // namespace gpuprof::report
