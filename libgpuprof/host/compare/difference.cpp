// SPDX-License-Identifier: Apache-2.0
#include "host/compare/difference.hpp"

#include <array>

namespace gpuprof::compare {

std::string_view name_of(line_kind kind) noexcept {
  constexpr std::array<std::string_view, 6> names = {"step",   "gpu",    "range",
                                                     "kernel", "bucket", "finding"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view name_of(match_kind how) noexcept {
  constexpr std::array<std::string_view, 6> names = {"same",  "by name", "renamed",
                                                     "split", "gone",    "new"};
  return names[static_cast<std::size_t>(how)];
}

std::string_view name_of(verdict v) noexcept {
  constexpr std::array<std::string_view, 5> names = {"same", "better", "worse", "undecided", ""};
  return names[static_cast<std::size_t>(v)];
}

}  // namespace gpuprof::compare
