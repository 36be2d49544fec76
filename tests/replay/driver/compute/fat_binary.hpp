// SPDX-License-Identifier: Apache-2.0
// Which chips a compiled image has code for, read from the image itself.
#pragma once

#include <cstddef>
#include <vector>

namespace gpuprof::replay {

struct code_target {
  unsigned chip = 0;  // 90 of sm_90 and of compute_90
  bool is_ptx = false;
  bool is_of_this_chip = false;  // sm_90a: nothing else runs it
};

/// Empty when this is no fat binary.
std::vector<code_target> targets_of(void const* image);

/// As the driver decides: machine code of the same generation that is no newer, else older PTX.
bool runs_on(std::vector<code_target> const& targets, unsigned chip, bool takes_ptx) noexcept;

}  // namespace gpuprof::replay
