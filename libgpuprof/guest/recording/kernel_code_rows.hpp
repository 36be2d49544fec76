// SPDX-License-Identifier: Apache-2.0
// Which rows of a capture say what the kernels that ran can compute with, each once.
#pragma once

#include "guest/metrics/inventory/code_inventory.hpp"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::guest {

/// One thread.
class kernel_code_rows {
 public:
  /// Rows that are new or other than before. `ran`: names of the kernels that ran, some of them
  /// several times or none (0); it only grows.
  std::vector<kernel_code_record> fresh(code_inventory const& inventory,
                                        std::span<name_id const> ran,
                                        std::function<std::string(name_id)> const& text);

 private:
  std::map<name_id, kernel_code> told_;
  std::uint64_t version_ = 0;
  std::size_t looked_at_ = 0;  // of those that ran
};

}  // namespace gpuprof::guest
