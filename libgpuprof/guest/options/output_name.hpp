// SPDX-License-Identifier: Apache-2.0
// Converts the pattern of --output to the path of one process's capture.
#pragma once

#include "base/result.hpp"
#include "guest/options/settings.hpp"
#include "model/process_rank.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace gpuprof::guest {

/// The facts on which a name may depend. They are functions so that tests and the command line can
/// replace them.
struct naming_facts {
  std::string host;
  std::uint32_t process = 0;
  variable_lookup environment;
  std::function<bool(std::string const& path)> exists;
  /// Returns the time of the last change in ns of CLOCK_REALTIME, or 0 if there is no such file.
  std::function<std::uint64_t(std::string const& path)> changed;
  /// True for a device, pipe or socket.
  std::function<bool(std::string const& path)> special = [](std::string const&) { return false; };
};
naming_facts naming_facts_of_this_process();

/// True if each % begins one of %h %p %n %q{VARIABLE} %% and the pattern names a file. "-" and
/// folders are not accepted.
bool is_output_pattern(std::string_view pattern) noexcept;

/// Replaces host, process, variables and rank, and adds ".gpuprof". %n becomes `number`.
std::string expand_output_name(std::string_view pattern, naming_facts const&,
                               std::string const& number);

struct capture_path {
  std::string path;
  bool replace = false;  // remove an existing file; if false, an existing file is an error
};

/// Chooses the path that this process should open. Returns an error if the file exists and may not
/// be replaced, or if the path (also without the added ".gpuprof") is not a regular file, such as
/// /dev/null. If another process takes the name first, call this again with the number of names
/// lost so far; after some losses, %n is combined with another suffix. Processes of one `gpuprof
/// profile` never replace each other's captures: the second one that wants a name gets ".pid<N>"
/// added, or ".pid<N>-2", because containers that share a folder have separate process ids.
result<capture_path> choose_capture_path(settings const&, naming_facts const&, int lost_names = 0);

}  // namespace gpuprof::guest
