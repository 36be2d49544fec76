// SPDX-License-Identifier: Apache-2.0
#include "guest/cupti/known_defects.hpp"

#include "guest/cupti/api.hpp"

namespace gpuprof::guest {

known_defects known_defects_of(unsigned version) noexcept {
  auto const is_first_13 = version == cupti_version::cuda_13_0;
  return {.cannot_be_left = version < cupti_version::can_be_left,
          .cannot_stop_kernel_records = is_first_13,
          .should_not_flush = is_first_13};
}

std::string describe(known_defects const& defects) {
  if (defects.cannot_stop_kernel_records || defects.should_not_flush)
    return "it may hang where records of kernels are switched off and crash where they are "
           "flushed, so kernels are recorded to the end of the program and flushed at the end of "
           "captures alone, and operations of CUDA cores are not counted";
  if (defects.cannot_be_left)
    return "it stays in the program after a capture, since leaving it crashes programs with CUDA "
           "graphs";
  return {};
}

}  // namespace gpuprof::guest
