// SPDX-License-Identifier: Apache-2.0
// Names of a capture as other programs get them: valid UTF-8, each converted once.
#pragma once

#include "host/reading/trace_contents.hpp"

#include <string>
#include <unordered_map>
#include <vector>

namespace gpuprof::host {

/// Names are made valid, because one bad byte makes some readers drop the whole file. The capture
/// keeps the raw name.
class exported_names {
 public:
  struct kernel {
    name_id id{};           // of the mangled name; 0 for a shape that is not in the capture
    std::string mangled;    // as given by CUPTI
    std::string demangled;  // with arguments and parameters
    std::string base;       // without arguments, parameters and namespaces
  };

  explicit exported_names(trace_contents& trace);

  /// Returns an empty text for 0. The text is valid as long as this object.
  std::string const& text(name_id id);
  /// All shapes of one kernel name return the same object.
  kernel const& kernel_of(shape_id shape) const;
  kernel_shape const& shape(shape_id shape) const;

 private:
  trace_contents* trace_;
  std::unordered_map<name_id, std::string> texts_;
  std::vector<kernel> kernels_;          // the first is "not known"
  std::vector<std::uint32_t> by_shape_;  // index into `kernels_`
  std::vector<kernel_shape> shapes_;     // indexed by shape_id
};

}  // namespace gpuprof::host
