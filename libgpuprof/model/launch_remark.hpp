// SPDX-License-Identifier: Apache-2.0
// What whoever reads counters around launches has to say of one.
#pragma once

#include "base/time.hpp"
#include "model/ids.hpp"

#include <cstdint>

namespace gpuprof {

struct launch_remark {
  enum class kind : std::uint8_t {
    usual,
    pattern,    // its kernel record tells what later launches ran that have none
    unrecorded  // kernel records were off: none will follow
  };
  kind is = kind::usual;
  std::uint32_t arguments = 0;  // as in kernel_shape
  // Of unrecorded ones alone:
  correlation_id alike{};         // its pattern
  timestamp_ns ran_from, ran_to;  // no earlier, no later
};

}  // namespace gpuprof
