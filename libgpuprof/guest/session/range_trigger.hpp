// SPDX-License-Identifier: Apache-2.0
// Recognizes the NVTX range that starts a capture or ends a step.
#pragma once

#include "guest/nvtx/name_registry.hpp"
#include "guest/options/settings.hpp"

#include <optional>

namespace gpuprof::guest {

/// Compares name ids, which takes almost no time.
struct range_trigger {
  name_id name{}, domain{};
  bool any_domain = false;
  name_id shown_name{}, shown_domain{};  // of "domain:name", as in reports; 0 for other names

  bool matches(name_id n, name_id d) const noexcept {
    return (n == name && (any_domain || d == domain)) ||
           (n == shown_name && d == shown_domain && raw(n) != 0);
  }
};

/// Returns nothing without a pattern. Interns the names of the pattern.
std::optional<range_trigger> trigger_for(std::optional<range_pattern> const& pattern);

}  // namespace gpuprof::guest
