// SPDX-License-Identifier: Apache-2.0
#include "host/compare/difference.hpp"

#include <array>
#include <cmath>

namespace gpuprof::host::compare {
namespace {

bool matters(interval const& of) {
  return of.excludes_zero() && std::abs(of.estimate) >= least_difference;
}

verdict by_sign(double estimate) {
  return estimate > 0 ? verdict::worse : verdict::better;
}

bool would_matter_without_floor(observations of, double alpha) {
  of.floor = 0;
  return matters(interval_of(of, alpha));
}

}  // namespace

std::string_view name_of(line_kind kind) noexcept {
  constexpr std::array<std::string_view, 9> names = {"run",  "step",   "gpu",    "range",  "kernel",
                                                     "line", "module", "bucket", "finding"};
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

judgment judge(tests const& of, double alpha) {
  judgment found;
  auto const has_besides = !of.besides.base.empty();
  auto const each = has_besides ? alpha / 2 : alpha;
  found.left = interval_of(of.left, each);
  if (has_besides) found.besides = interval_of(of.besides, each);
  if (!found.left.is_known()) return found;
  auto const estimate = found.left.estimate;
  found.is = verdict::same;
  if (matters(found.left)) {
    found.is = by_sign(estimate);
    return found;
  }
  if (found.left.half_width() > greatest_noise) found.is = verdict::not_tested;
  auto const stands_out = matters(found.besides);
  if (stands_out && std::abs(estimate) >= least_difference &&
      estimate * found.besides.estimate > 0) {
    found.is = by_sign(estimate);
    found.is_by_besides = true;
  } else if (of.left.is_single() && (stands_out || would_matter_without_floor(of.left, each))) {
    found.is = verdict::undecided;
  }
  return found;
}

}  // namespace gpuprof::host::compare
