// SPDX-License-Identifier: Apache-2.0
// Work that a program has declared in the payload of a range: FLOP and bytes.
#pragma once

#include <string_view>

namespace gpuprof::host {

struct declared_work {
  double flops = 0, bytes = 0;  // 0: not declared
};

/// Reads the numbers "flops" and "bytes" from a JSON object, or from an object that is a member of
/// it. gpuprof::scoped_range sends these names.
declared_work declared_in(std::string_view json);

}  // namespace gpuprof::host
