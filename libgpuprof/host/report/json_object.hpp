// SPDX-License-Identifier: Apache-2.0
// Writes JSON objects and arrays of texts, member by member.
#pragma once

#include "base/utf8.hpp"
#include "text/table.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host::report {

/// Writes a number that reads back as the same number, or null if it is not known or not finite.
inline void append_json_number(std::string& out, std::optional<double> value) {
  auto const known = text::number_cell(value);
  if (std::holds_alternative<std::monostate>(known))
    out += "null";
  else
    text::append_cell(out, known, text::column_kind::number, {});
}

/// Writes members of an object with commas between them.
class json_object {
 public:
  explicit json_object(std::string& out) : out_(out) { out_ += '{'; }
  void text(std::string_view key, std::string_view value) {
    name(key);
    append_json_text(out_, value);
  }
  void number(std::string_view key, std::optional<double> value) {
    name(key);
    append_json_number(out_, value);
  }
  void whole(std::string_view key, std::uint64_t value) {
    name(key);
    out_ += std::to_string(value);
  }
  void flag(std::string_view key, bool value) {
    name(key);
    out_ += value ? "true" : "false";
  }
  template <class F>
  void member(std::string_view key, F f) {
    name(key);
    f(out_);
  }
  void end() { out_ += '}'; }

 private:
  void name(std::string_view key) {
    if (!first_) out_ += ", ";
    first_ = false;
    append_json_text(out_, key);
    out_ += ": ";
  }
  std::string& out_;
  bool first_ = true;
};

/// Calls `append(out, element)` for each element and puts commas between them.
template <class List, class Append>
void append_json_array(std::string& out, List const& list, Append append) {
  out += '[';
  bool first = true;
  for (auto const& one : list) {
    if (!first) out += ",\n ";
    first = false;
    append(out, one);
  }
  out += ']';
}

inline void append_json_texts(std::string& out, std::vector<std::string> const& texts) {
  out += '[';
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) out += ", ";
    append_json_text(out, texts[i]);
  }
  out += ']';
}

/// Writes {"start_ns": 9800000}.
inline void append_json_counts(std::string& out,
                               std::vector<std::pair<std::string, std::uint64_t>> const& counts) {
  json_object o(out);
  for (auto const& [what, count] : counts) o.whole(what, count);
  o.end();
}

}  // namespace gpuprof::host::report
