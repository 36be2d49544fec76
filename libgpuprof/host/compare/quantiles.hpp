// SPDX-License-Identifier: Apache-2.0
// Quantiles of the normal distribution and of Student's.
#pragma once

namespace gpuprof::compare {

/// x that a standard normal value stays below with this probability.
double normal_quantile(double probability) noexcept;

/// Beyond which |t| lies with probability `alpha`. G. W. Hill, Algorithm 396, CACM 13 (1970).
double student_two_sided(double alpha, double degrees_of_freedom) noexcept;

}  // namespace gpuprof::compare
