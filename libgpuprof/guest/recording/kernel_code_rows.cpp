// SPDX-License-Identifier: Apache-2.0
#include "guest/recording/kernel_code_rows.hpp"

#include <utility>

namespace gpuprof::guest {

std::vector<kernel_code_record> kernel_code_rows::fresh(
    code_inventory const& inventory, std::span<name_id const> ran,
    std::function<std::string(name_id)> const& text) {
  std::vector<kernel_code_record> rows;
  auto const version = inventory.version();
  auto const from = std::exchange(version_, version) == version ? looked_at_ : 0;
  looked_at_ = ran.size();
  for (auto const name : ran.subspan(from)) {
    if (raw(name) == 0) continue;
    auto const code = inventory.find(text(name));
    if (!code) continue;
    auto const [at, is_new] = told_.try_emplace(name, *code);
    if (!is_new && at->second == *code) continue;
    at->second = *code;
    rows.push_back(record_of(name, *code));
  }
  return rows;
}

}  // namespace gpuprof::guest
