// SPDX-License-Identifier: Apache-2.0
// What the processes of one `gpuprof profile` leave for it to read: which captures they have begun,
// and why there is none.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gpuprof::guest {

/// Names the file. Set by `gpuprof profile`, which makes it and removes it.
inline constexpr char const* run_notes_variable = "GPUPROF_RUN_NOTES";

/// Any process, several at once. `file`: what the variable says; false: nobody is there to read it.
bool note_capture(std::optional<std::string> const& file, std::string const& path) noexcept;
/// `why`: empty when the user has been told.
bool note_no_capture(std::optional<std::string> const& file, std::string const& why) noexcept;

struct run_notes {
  std::vector<std::string> captures;     // paths, in the order in which they were begun
  std::vector<std::string> no_captures;  // why; those that say the same once
};
run_notes read_run_notes(std::string const& file);

}  // namespace gpuprof::guest
