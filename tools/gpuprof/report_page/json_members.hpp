// SPDX-License-Identifier: Apache-2.0
// Writes a JSON object member by member, and a finished report in the form used in a page.
#pragma once

#include "base/utf8.hpp"
#include "stats_output.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuprof::host::command {

class json_members {
 public:
  std::string& add(std::string_view name) {
    text_ += text_.empty() ? '{' : ',';
    append_json_text(text_, name);
    text_ += ':';
    return text_;
  }
  void add_text(std::string_view name, std::string_view value) {
    append_json_text(add(name), value);
  }
  void add_texts(std::string_view name, std::vector<std::string> const& texts) {
    auto separator = '[';
    auto& text = add(name);
    for (auto const& one : texts) {
      text += std::exchange(separator, ',');
      append_json_text(text, one);
    }
    text += texts.empty() ? "[]" : "]";
  }
  std::string take() && { return text_.empty() ? "{}" : std::move(text_) + "}"; }

 private:
  std::string text_;
};

/// Writes a finished report in the form used in a page.
///
/// {"title", "rows": [...], "left_out", "notes": [...]} or {"title", "missing": "why"}.
std::string table_document(finished_report const& report, std::size_t max_rows);

}  // namespace gpuprof::host::command
