// SPDX-License-Identifier: Apache-2.0
#include "guest/session/startup.hpp"

#include "base/log.hpp"
#include "guest/options/run_notes.hpp"

#include <climits>

#include <cstdlib>
#include <unistd.h>

extern char** environ;

namespace gpuprof {

std::string in_current_folder(std::string pattern) {
  if (pattern.empty() || pattern[0] == '/' || pattern[0] == '%') return pattern;
  char folder[PATH_MAX];
  return getcwd(folder, sizeof folder) != nullptr ? std::string(folder) + '/' + pattern : pattern;
}

settings settings_of_this_process() {
  auto parsed = read_settings(environ);
  parsed.values.output = in_current_folder(std::move(parsed.values.output));
  if (char const* const notes = secure_getenv(run_notes_variable)) parsed.values.run_notes = notes;
  set_log_level(parsed.values.log_level);
  for (auto const& warning : parsed.warnings) log_warning(warning);
  return std::move(parsed.values);
}

}  // namespace gpuprof
