// SPDX-License-Identifier: Apache-2.0
// The report on one launch from the code that reads counters around launches.
#pragma once

#include "base/time.hpp"
#include "model/ids.hpp"

#include <cstdint>

namespace gpuprof {

struct launch_remark {
  enum class kind : std::uint8_t {
    usual,
    pattern,    // later launches without a record run the same as this one
    unrecorded  // kernel records were off, so none will follow
  };
  kind is = kind::usual;
  std::uint32_t arguments = 0;  // as in kernel_shape
  // Only for `unrecorded`:
  correlation_id alike{};         // the pattern launch that it resembles
  timestamp_ns ran_from, ran_to;  // the launch ran within this time
};

}  // namespace gpuprof
