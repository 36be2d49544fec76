// SPDX-License-Identifier: Apache-2.0
// Names of a capture as other programs get them: valid UTF-8, each made once.
#pragma once

#include "host/reading/trace_contents.hpp"

#include <string>
#include <unordered_map>
#include <vector>

namespace gpuprof::host {

/// One bad byte in a name makes some readers drop the whole file. The capture keeps the raw name.
class exported_names {
 public:
  struct kernel {
    name_id id{};           // of the mangled name; 0 for a shape that the capture does not explain
    std::string mangled;    // as CUPTI gave it
    std::string demangled;  // with arguments and parameters
    std::string base;       // neither, and no namespaces
  };

  explicit exported_names(trace_contents& trace);

  /// Empty for 0. Lives as long as this object.
  std::string const& text(name_id id);
  /// Of a kernel name, whatever its shapes.
  kernel const& kernel_of(shape_id shape) const;
  kernel_shape const& shape(shape_id shape) const;

 private:
  trace_contents* trace_;
  std::unordered_map<name_id, std::string> texts_;
  std::vector<kernel> kernels_;          // the first: not known
  std::vector<std::uint32_t> by_shape_;  // index into kernels_
  std::vector<kernel_shape> shapes_;     // by shape_id
};

}  // namespace gpuprof::host
