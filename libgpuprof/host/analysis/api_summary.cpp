// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/api_summary.hpp"

#include <algorithm>
#include <map>

namespace gpuprof::host {

std::string_view without_version_suffix(std::string_view function) noexcept {
  auto const at = function.rfind("_v");
  if (at == std::string_view::npos || at == 0) return function;
  auto const digits = function.substr(at + 2);
  // cuMemcpyHtoD_v2 is the function's real name; CUPTI's version suffixes have four digits or more.
  auto const is_version =
      digits.size() >= 4 &&
      std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  return is_version ? function.substr(0, at) : function;
}

std::vector<api_row> api_calls::rows(text_of_name const& text) {
  std::map<std::string, samples> by_text;  // functions that differ only in their version are one
  for (auto const& [id, series] : by_name_)
    by_text[std::string(without_version_suffix(text(static_cast<name_id>(id))))].add_all(series);
  std::vector<api_row> rows;
  for (auto& [name, series] : by_text) rows.push_back({name, series.summarize()});
  std::stable_sort(rows.begin(), rows.end(),
                   [](api_row const& a, api_row const& b) { return a.time.total > b.time.total; });
  return rows;
}

}  // namespace gpuprof::host
