// SPDX-License-Identifier: Apache-2.0
// A finding as a block of lines that read as advice.
#pragma once

#include "host/advice/joined_advice.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace gpuprof::host::report {

struct finding_layout {
  std::size_t width = 0;  // 0: lines and names stay whole
  std::size_t ranks = 1;  // of the job
  bool bold = false;      // the terminal shows it
};

/// "1. what [rule]", then potential gain, where, why, what to do, what to run to know more.
std::vector<std::string> finding_text(std::size_t number, advice::joined_finding const& of,
                                      finding_layout const& layout);

/// In lines of that width, the second and later ones set in.
void append_wrapped(std::vector<std::string>& lines, std::string_view text, std::size_t width,
                    std::size_t indent);

}  // namespace gpuprof::host::report
