// SPDX-License-Identifier: Apache-2.0
#include "guest/session/range_trigger.hpp"

#include <string>

namespace gpuprof::guest {

std::optional<range_trigger> trigger_for(std::optional<range_pattern> const& pattern) {
  if (!pattern) return std::nullopt;
  range_trigger trigger{
      names().intern(pattern->name), names().intern(pattern->domain), pattern->any_domain, {}, {}};
  auto const& name = pattern->name;
  auto const colon = name.find(':');
  auto const is_shown_form = pattern->domain.empty() && !pattern->any_domain &&
                             colon != std::string::npos && colon != 0 && name[colon + 1] != ':' &&
                             colon + 1 < name.size();
  if (!is_shown_form) return trigger;
  trigger.shown_domain = names().intern(name.substr(0, colon));
  trigger.shown_name = names().intern(name.substr(colon + 1));
  return trigger;
}

}  // namespace gpuprof::guest
