// SPDX-License-Identifier: Apache-2.0
// How long the program spent in each CUDA API function.
#pragma once

#include "host/analysis/kernel_labels.hpp"
#include "host/analysis/samples.hpp"
#include "model/records.hpp"

#include <string>
#include <unordered_map>
#include <vector>

namespace gpuprof::host {

/// "cudaMemcpyAsync" of "cudaMemcpyAsync_v3020": CUPTI appends the version a function came with.
std::string_view without_version_suffix(std::string_view function) noexcept;

struct api_row {
  std::string name;
  statistics time;
};

class api_calls {
 public:
  void add(api_record const& call) { by_name_[raw(call.name)].add(nanoseconds(call.duration)); }
  bool empty() const noexcept { return by_name_.empty(); }

  /// Longest total first.
  std::vector<api_row> rows(text_of_name const& text);

 private:
  std::unordered_map<std::uint32_t, samples> by_name_;
};

}  // namespace gpuprof::host
