// SPDX-License-Identifier: Apache-2.0
// The machine code of the kernels of a capture, by name.
#pragma once

#include "model/ids.hpp"
#include "model/kernel_code.hpp"

#include <map>

namespace gpuprof::host {

class kernel_codes {
 public:
  /// Replaces an earlier row of the same name.
  void add(kernel_code_record const& row) { codes_[row.name] = code_of(row); }
  /// Returns nullptr if the kernel's module was not seen.
  kernel_code const* find(name_id name) const noexcept {
    auto const found = codes_.find(name);
    return found == codes_.end() ? nullptr : &found->second;
  }
  bool empty() const noexcept { return codes_.empty(); }

 private:
  std::map<name_id, kernel_code> codes_;
};

}  // namespace gpuprof::host
