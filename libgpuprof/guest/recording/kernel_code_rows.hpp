// SPDX-License-Identifier: Apache-2.0
// Selects the rows about kernel code for a capture: each kernel that ran, once.
#pragma once

#include "guest/metrics/inventory/code_inventory.hpp"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::guest {

/// For one thread.
class kernel_code_rows {
 public:
  /// Returns rows that are new or have changed. `ran`: names of the kernels that ran, possibly with
  /// duplicates and 0; it only grows.
  std::vector<kernel_code_record> fresh(code_inventory const& inventory,
                                        std::span<name_id const> ran,
                                        std::function<std::string(name_id)> const& text);

 private:
  std::map<name_id, kernel_code> told_;
  std::uint64_t version_ = 0;
  std::size_t looked_at_ = 0;  // number of names of `ran` already examined
};

}  // namespace gpuprof::guest
