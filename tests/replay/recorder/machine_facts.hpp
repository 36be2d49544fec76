// SPDX-License-Identifier: Apache-2.0
// Notes what the recorded program ran on.
#pragma once

namespace gpuprof::replay {

/// Begins to read the facts beside the program: inside cuInit the driver does not answer yet.
void start_machine_facts();

/// Waits for them, two seconds at most, and adds them to the session.
void finish_machine_facts();

}  // namespace gpuprof::replay
