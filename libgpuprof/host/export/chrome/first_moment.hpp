// SPDX-License-Identifier: Apache-2.0
// The earliest time in a capture, from which the times of an export can count.
#pragma once

#include "host/reading/trace_contents.hpp"

namespace gpuprof::chrome {

/// No later than the start of the capture. Times of more than a day before are taken for damage:
/// they would cost all others their precision. 0: there is no time at all.
timestamp_ns first_moment(trace_contents& trace);

}  // namespace gpuprof::chrome
