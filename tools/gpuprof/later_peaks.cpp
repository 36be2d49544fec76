#include "later_peaks.hpp"

#include "peaks/store.hpp"

#include <utility>

namespace gpuprof {

std::optional<gpu_peaks> later_peaks(std::string const& uuid, std::string const& driver_version) {
  std::optional<gpu_peaks> newest;
  for (auto& stored : peaks::peaks_of_gpu(peaks::store_folder(), uuid)) {
    if (stored.key.driver_version != driver_version) continue;
    if (!newest || stored.measured_at > newest->measured_at) newest = std::move(stored);
  }
  return newest;
}

}  // namespace gpuprof
