// SPDX-License-Identifier: Apache-2.0
// The driver's own copy within the device, from the first half of the arena to the second.
#pragma once

#include "guest/peaks/experiments/experiment.hpp"

namespace gpuprof::peaks {

/// The arena must be there. Throws cuda_failure.
class driver_copy {
 public:
  explicit driver_copy(lab& in) : in_(in) {}

  /// Bytes read and written, per second.
  peak_figure best() const;
  peak_figure sustain(double seconds) const;

 private:
  double bytes() const {
    auto const half = in_.arena.bytes() / 2;
    return static_cast<double>(half * 2);
  }
  void enqueue(unsigned copies) const;
  /// After what is in the stream already.
  double seconds_of(unsigned copies) const;

  lab& in_;
};

}  // namespace gpuprof::peaks
