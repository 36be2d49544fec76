// SPDX-License-Identifier: Apache-2.0
// Sums how long the program spent in each CUDA API function, and names calls that are not in a
// capture.
#pragma once

#include "host/analysis/kernel_labels.hpp"
#include "host/analysis/samples.hpp"
#include "model/records.hpp"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpuprof::host {

/// Returns "cudaMemcpyAsync" for "cudaMemcpyAsync_v3020": CUPTI appends the version that introduced
/// the function.
std::string_view without_version_suffix(std::string_view function) noexcept;

struct api_row {
  std::string name;
  statistics time;
};

class api_calls {
 public:
  void add(api_record const& call) { by_name_[raw(call.name)].add(nanoseconds(call.duration)); }
  bool empty() const noexcept { return by_name_.empty(); }

  /// Returns rows with the longest total first.
  std::vector<api_row> rows(text_of_name const& text);

 private:
  std::unordered_map<std::uint32_t, samples> by_name_;
};

// Names for calls that are not in the capture. The GPU work shows when and on which thread such a
// call was made, but not which function it was.

template <class Work>
constexpr std::string_view unrecorded_call(Work const& work) noexcept {
  constexpr bool is_kernel = requires {
    work.shape;
  }
  , has_bytes = requires {
    work.bytes;
  };
  if (raw(work.graph) != 0 || !(is_kernel || has_bytes)) return "graph launch (call not recorded)";
  if constexpr (is_kernel) return "kernel launch (call not recorded)";
  if constexpr (requires { work.source_kind; }) return "copy (call not recorded)";
  return "fill (call not recorded)";
}

}  // namespace gpuprof::host
