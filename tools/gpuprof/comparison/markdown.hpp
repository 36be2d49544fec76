// SPDX-License-Identifier: Apache-2.0
// Tables in Markdown, for a pull request.
#pragma once

#include "text/table.hpp"

#include <string>
#include <string_view>

namespace gpuprof {

/// On one line, with nothing that Markdown or HTML would take for its own.
std::string markdown_text(std::string_view text);

void write_markdown(report::table const& table, report::time_unit unit,
                    report::text_sink const& out);

}  // namespace gpuprof
