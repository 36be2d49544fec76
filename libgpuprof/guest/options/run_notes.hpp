// SPDX-License-Identifier: Apache-2.0
// Notes that the processes of one `gpuprof profile` write for it: which captures they have begun,
// or why there is none.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gpuprof::guest {

/// Holds the path of the file. Set by `gpuprof profile`, which creates the file and removes it.
inline constexpr char const* run_notes_variable = "GPUPROF_RUN_NOTES";

/// Can be called by several processes at once. `file`: value of the variable. Returns false if
/// there is no reader.
bool note_capture(std::optional<std::string> const& file, std::string const& path) noexcept;
/// `why` is empty if the user has already been informed.
bool note_no_capture(std::optional<std::string> const& file, std::string const& why) noexcept;

struct run_notes {
  std::vector<std::string> captures;     // paths, in the order in which the captures were begun
  std::vector<std::string> no_captures;  // reasons; each text only once
};
run_notes read_run_notes(std::string const& file);

}  // namespace gpuprof::guest
