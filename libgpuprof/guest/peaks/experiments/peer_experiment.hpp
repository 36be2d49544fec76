// SPDX-License-Identifier: Apache-2.0
// Measures copies between this GPU and each of the others.
#pragma once

#include "guest/peaks/experiments/experiment.hpp"

#include <vector>

namespace gpuprof::guest::peaks {

/// The best of all as "p2p", then for each other GPU N "p2p_to_N" and "p2p_both_N". Only remarks
/// when there is no other GPU.
std::vector<peak_result> measure_peers(lab& in);

}  // namespace gpuprof::guest::peaks
