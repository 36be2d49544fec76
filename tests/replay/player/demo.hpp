// SPDX-License-Identifier: Apache-2.0
// Plays a session for `gpuprof demo`.
#pragma once

/// play-session SESSION [--about]: plays it at its own speed, or only says what was recorded.
extern "C" __attribute__((visibility("default"))) int gpuprof_demo_play(int count,
                                                                        char** words) noexcept;
