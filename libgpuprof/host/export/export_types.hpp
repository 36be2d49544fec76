// SPDX-License-Identifier: Apache-2.0
// The formats that a capture can be exported to: a table.
#pragma once

#include "host/export/export_job.hpp"

#include <span>
#include <string_view>

namespace gpuprof {

struct export_type {
  std::string_view name;       // as --type takes it
  std::string_view extension;  // of the file, with its dot
  std::string_view read_by;    // for the help: programs that open it
  /// Writes `path`, which is not there, or may be replaced when `overwrite`.
  result<export_notes> (*write)(export_job& job, std::string const& path, bool overwrite) = nullptr;
  /// The folder of one rank takes further ones: several captures are written to the same path.
  bool adds_ranks = false;
};

std::span<export_type const> export_types() noexcept;

}  // namespace gpuprof
