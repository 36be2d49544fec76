// SPDX-License-Identifier: Apache-2.0
// The rows of a table that owns its text: cells point into strings kept here.
#pragma once

#include "text/table.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuprof::host::report {

struct owned_rows {
  std::vector<text::row> rows;
  std::vector<std::unique_ptr<std::string>> texts;

  std::string_view keep(std::string text) {
    return *texts.emplace_back(std::make_unique<std::string>(std::move(text)));
  }
};

inline text::table table_of(std::string name, std::string title, std::vector<text::column> columns,
                            owned_rows rows) {
  auto kept = std::make_shared<owned_rows>(std::move(rows));  // std::function must be copyable
  return {std::move(name), std::move(title), std::move(columns),
          [kept](std::function<void(text::row const&)> const& take) {
            for (auto const& cells : kept->rows) take(cells);
          }};
}

inline void append_cells(text::row& to, std::initializer_list<text::cell> cells) {
  to.insert(to.end(), cells);
}

inline std::int64_t whole(std::uint64_t value) noexcept {
  return static_cast<std::int64_t>(value);
}

inline double percent(std::uint64_t part, std::uint64_t all) noexcept {
  return all == 0 ? 0 : static_cast<double>(part) * 100 / static_cast<double>(all);
}

}  // namespace gpuprof::host::report
