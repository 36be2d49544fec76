// SPDX-License-Identifier: Apache-2.0
#include "report_page/json_members.hpp"

#include <memory>
#include <utility>

namespace gpuprof::host::command {

std::string table_document(finished_report const& report, std::size_t max_rows) {
  json_members members;
  members.add_text("title", report.table.title);
  if (!report.missing.empty()) {
    members.add_text("missing", report.missing);
    return std::move(members).take();
  }
  auto const left_out = std::make_shared<std::size_t>(0);
  auto& rows = members.add("rows");
  text::write_json(text::first_rows(report.table, max_rows, left_out), text::time_unit::nanoseconds,
                   [&rows](std::string_view text) { rows += text; });
  members.add("left_out") += std::to_string(*left_out);
  members.add_texts("notes", report.notes);
  return std::move(members).take();
}

}  // namespace gpuprof::host::command
