// Peaks of a GPU that were stored after a capture of it was made.
#pragma once

#include "model/peaks.hpp"

#include <optional>
#include <string>

namespace gpuprof {

/// The newest that are stored on this machine of the GPU with this UUID, measured with this version
/// of the driver. What the user sees of the GPU's clocks and limits then is not in a capture: who
/// has changed them has them measured before the capture.
std::optional<gpu_peaks> later_peaks(std::string const& uuid, std::string const& driver_version);

}  // namespace gpuprof
