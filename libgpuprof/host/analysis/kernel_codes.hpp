// SPDX-License-Identifier: Apache-2.0
// What the machine code of each kernel holds, and what follows for its FLOP.
#pragma once

#include "model/flop_counters.hpp"
#include "model/kernel_code.hpp"
#include "model/records.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>

namespace gpuprof::host {

/// By the name of the kernel.
class kernel_codes {
 public:
  /// A later one of the same name replaces the earlier.
  void add(kernel_code_record const& row) { codes_[row.name] = code_of(row); }
  /// nullptr: its module was not seen.
  kernel_code const* find(name_id name) const noexcept {
    auto const found = codes_.find(name);
    return found == codes_.end() ? nullptr : &found->second;
  }
  bool empty() const noexcept { return codes_.empty(); }

 private:
  std::map<name_id, kernel_code> codes_;
};

/// Those of these kernels that are known to hold no instruction of the tensor cores.
std::set<shape_id> without_tensor_code(std::span<kernel_shape const> shapes,
                                       kernel_codes const& codes);

/// What a cycle of the tensor cores computes in a kernel.
struct tensor_rate {
  precision of{};
  double operations = 0;  // of the GPU, per cycle of sm__pipe_tensor_cycles_active.avg
  std::string_view peak_test;
  double error = 0;  // one standard error of it, as a share
};

/// Of a GPU.
struct chip_size {
  std::string_view chip;  // CUPTI's name; empty: not known
  std::uint32_t sm_count = 0;
};
/// Where all tensor instructions of the kernel are of one class, and it was measured what the chip
/// computes with it in a cycle.
std::optional<tensor_rate> rate_by_code(kernel_code const* code, chip_size const& gpu) noexcept;

}  // namespace gpuprof::host
