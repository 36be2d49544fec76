// SPDX-License-Identifier: Apache-2.0
// Recognizes the NVTX range that a capture or a step waits for.
#pragma once

#include "guest/nvtx/name_registry.hpp"
#include "guest/options/settings.hpp"

#include <optional>

namespace gpuprof::guest {

/// By ids of names, so that comparing costs the program nothing to speak of.
struct range_trigger {
  name_id name{}, domain{};
  bool any_domain = false;
  name_id shown_name{}, shown_domain{};  // of "domain:name", as reports show it; 0: it is not

  bool matches(name_id n, name_id d) const noexcept {
    return (n == name && (any_domain || d == domain)) ||
           (n == shown_name && d == shown_domain && raw(n) != 0);
  }
};

/// Empty without a pattern. Interns its names.
std::optional<range_trigger> trigger_for(std::optional<range_pattern> const& pattern);

}  // namespace gpuprof::guest
