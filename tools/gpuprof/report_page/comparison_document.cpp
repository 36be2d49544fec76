// SPDX-License-Identifier: Apache-2.0
#include "report_page/comparison_document.hpp"

#include "comparison/comparison_output.hpp"
#include "comparison/headlines.hpp"
#include "comparison/read_sides.hpp"
#include "host/compare/programs.hpp"
#include "report_page/json_members.hpp"

#include <utility>

namespace gpuprof {

result<std::string> comparison_document(std::vector<std::string> const& base,
                                        std::vector<std::string> const& fresh,
                                        std::string const& step_name, bool different_programs) {
  auto const sides = read_sides(base, fresh, step_name);
  if (!sides) return error{sides.message()};
  json_members members;
  auto const differ = compare::programs_differ(sides->base, sides->fresh);
  if (!differ.empty() && !different_programs) {
    members.add_text("missing", "The captures are of different programs: " + differ +
                                    "; nothing is compared, --different-programs does it all the "
                                    "same.");
    return std::move(members).take();
  }
  auto const compared = compare::compare_runs(sides->base, sides->fresh);
  compared_sides const both{sides->base, sides->fresh};
  members.add_texts("headlines", headlines_of(compared, both));
  members.add("compare") += comparison_json(compared, both, {});
  return std::move(members).take();
}

}  // namespace gpuprof
