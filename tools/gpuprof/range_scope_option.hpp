// SPDX-License-Identifier: Apache-2.0
// The option that says whose ranges a launch belongs to, in stats and roofline.
#pragma once

#include "host/analysis/launch_ranges.hpp"
#include "word_option.hpp"

namespace gpuprof {

inline constexpr word_value<range_scope> range_scopes[] = {{"process", range_scope::process},
                                                           {"thread", range_scope::thread}};
inline constexpr char const* range_scope_help =
    "process: launches of a thread without an open range belong to that of the thread that waits "
    "for it; thread: they belong to none, as in nsys";

}  // namespace gpuprof
