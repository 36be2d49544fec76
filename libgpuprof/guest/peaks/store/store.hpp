// SPDX-License-Identifier: Apache-2.0
// Keeps measured peaks for later runs: one JSON file for each GPU and state of it.
#pragma once

#include "base/result.hpp"
#include "model/peaks.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpuprof::guest::peaks {

/// $GPUPROF_PEAKS_DIR, else $XDG_CACHE_HOME/gpuprof/peaks, else ~/.cache/gpuprof/peaks. Empty when
/// none of these is known.
std::string store_folder();

/// The file of this key: the GPU's UUID and a hash of all else.
std::string store_path(std::string const& folder, peaks_key const& key);

/// Empty when nothing is stored under this key. A file that cannot be read or parsed is an error
/// that says so and what to do; it is left where it is.
result<std::optional<gpu_peaks>> load_peaks(std::string const& folder, peaks_key const& key);

/// All that is stored of this GPU, in whatever state it was. Files that cannot be read are passed
/// over; empty also when there is no such folder.
std::vector<gpu_peaks> peaks_of_gpu(std::string const& folder, std::string const& uuid);

/// Written beside and renamed, so that no reader sees half a file; makes the folder. Results of
/// tests that were not measured this time are kept from what is stored under the same key; of a
/// test measured again the newer result stands.
result<void> save_peaks(std::string const& folder, gpu_peaks const& peaks);

/// Any file that holds peaks: a stored one, or what `gpuprof peaks --json` printed.
result<std::vector<gpu_peaks>> read_peaks_file(std::string const& path);

}  // namespace gpuprof::guest::peaks
