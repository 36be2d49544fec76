// SPDX-License-Identifier: Apache-2.0
// Stores measured peaks for later runs: one JSON file for each GPU and each state of it.
#pragma once

#include "base/result.hpp"
#include "model/peaks.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpuprof::guest::peaks {

/// Returns $GPUPROF_PEAKS_DIR, else $XDG_CACHE_HOME/gpuprof/peaks, else ~/.cache/gpuprof/peaks.
/// Empty if none of these is known.
std::string store_folder();

/// Returns the file for this key. Its name has the GPU's UUID and a hash of everything else.
std::string store_path(std::string const& folder, peaks_key const& key);

/// Returns nothing if nothing is stored for this key. If a file cannot be read or parsed, the error
/// says so and what to do. The file is not changed.
result<std::optional<gpu_peaks>> load_peaks(std::string const& folder, peaks_key const& key);

/// Returns all stored results of this GPU, in any state. Files that cannot be read are skipped.
/// Also empty if the folder does not exist.
std::vector<gpu_peaks> peaks_of_gpu(std::string const& folder, std::string const& uuid);

/// Writes a temporary file and renames it, so that no reader sees half a file. Creates the folder.
/// Keeps stored results under the same key for tests that were not measured this time; newer
/// results replace older ones.
result<void> save_peaks(std::string const& folder, gpu_peaks const& peaks);

/// Reads any file with peaks: a stored one, or the output of `gpuprof peaks --json`.
result<std::vector<gpu_peaks>> read_peaks_file(std::string const& path);

}  // namespace gpuprof::guest::peaks
