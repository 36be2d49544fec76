// The files a run may write: checked before it, listed after it.
#pragma once

#include "base/result.hpp"
#include "session/settings.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gpuprof {

/// The pattern of --output, made independent of the current folder.
std::string absolute_output(std::string const& pattern);

/// Whether the capture can be written as far as can be said before the program runs.
result<void> check_output(settings const&);

struct written_capture {
  std::string path;
  std::uint64_t bytes = 0;
};

/// A moment that compares with the times of files written from now on.
std::uint64_t file_clock_ns() noexcept;

/// Captures of this pattern changed since `started`, by name. Every rank and process included.
std::vector<written_capture> captures_since(std::uint64_t started, std::string const& pattern);

}  // namespace gpuprof
