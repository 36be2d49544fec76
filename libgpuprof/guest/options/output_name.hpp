// SPDX-License-Identifier: Apache-2.0
// Turns the pattern of --output into the path of one process's capture.
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

/// What a name may depend on; functions, so that tests and the command line can put in their own.
struct naming_facts {
  std::string host;
  std::uint32_t process = 0;
  variable_lookup environment;
  std::function<bool(std::string const& path)> exists;
  /// Moment of the last change in ns of CLOCK_REALTIME; 0 when there is no such file.
  std::function<std::uint64_t(std::string const& path)> changed;
  /// A device, pipe or socket.
  std::function<bool(std::string const& path)> special = [](std::string const&) { return false; };
};
naming_facts naming_facts_of_this_process();

/// True when every % in it is one of %h %p %n %q{VARIABLE} %%, and it names a file: not "-", which
/// is no place for a capture, and no folder.
bool is_output_pattern(std::string_view pattern) noexcept;

/// Host, process, variables and rank put in, ".gpuprof" added; %n becomes `number`.
std::string expand_output_name(std::string_view pattern, naming_facts const&,
                               std::string const& number);

struct capture_path {
  std::string path;
  bool replace = false;  // remove what is there; otherwise it is an error that something is
};

/// The path this process should open. An error when the file is there and may not be replaced, or
/// when it, or what was asked for before ".gpuprof" was added, is no place for a capture:
/// /dev/null. Someone may take the name in between: then call this again, with the number of names
/// lost in this way; after some of them %n alone is not relied on. Several processes of one
/// `gpuprof profile` never replace each other's captures: the second one to want a name gets
/// ".pid<N>" added to it, or ".pid<N>-2", since containers that share a folder count apart.
result<capture_path> choose_capture_path(settings const&, naming_facts const&, int lost_names = 0);

}  // namespace gpuprof::guest
