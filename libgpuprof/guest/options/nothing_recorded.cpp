// SPDX-License-Identifier: Apache-2.0
#include "guest/options/nothing_recorded.hpp"

#include "base/nearest_name.hpp"
#include "base/readable.hpp"
#include "model/kernel_name.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuprof::guest {
namespace {

constexpr std::size_t max_shown = 5;
constexpr std::size_t max_compared = 10'000;

std::string in_quotes(std::string_view name) {
  return '"' + std::string(name) + '"';
}

/// True if the profiler itself has interned this text to wait for the range: as the name, the
/// domain, or a part of "domain:name".
bool is_of_pattern(range_pattern const& wanted, std::string_view text) {
  if (text == wanted.name || text == wanted.domain) return true;
  auto const colon = wanted.name.find(':');
  return colon != std::string::npos &&
         (text == wanted.name.substr(0, colon) || text == wanted.name.substr(colon + 1));
}

/// Returns names of ranges, domains and threads: NVTX does not say what a name is for until it is
/// used.
std::vector<std::string> names_of_program(name_registry const& names, range_pattern const& wanted) {
  std::vector<std::string> found;
  std::size_t cursor = 0;
  names.for_each_new(cursor, [&](name_id, std::string_view text) {
    if (found.size() < max_compared && !is_of_pattern(wanted, text)) found.emplace_back(text);
  });
  return found;
}

/// Lists the nearest name first.
std::string list_of(std::vector<std::string> found, std::string_view wanted) {
  auto const near = nearest_name(wanted, found);
  if (auto const at = std::find(found.begin(), found.end(), near); at != found.end())
    std::rotate(found.begin(), at, at + 1);
  auto const shown = std::min(found.size(), max_shown);
  std::string line;
  for (std::size_t i = 0; i < shown; ++i) line += (i == 0 ? "" : ", ") + in_quotes(found[i]);
  if (found.size() > shown) line += " and " + readable_count(found.size() - shown) + " more";
  return line;
}

std::string seen_instead(range_pattern const& wanted, std::string_view nearest_to,
                         name_registry const& names) {
  auto found = names_of_program(names, wanted);
  if (found.empty()) return "the program has named nothing through NVTX";
  return "the program's NVTX names are " + list_of(std::move(found), nearest_to);
}

range_pattern const* awaited_range(settings const& s) noexcept {
  if (s.range == capture_range::nvtx && s.nvtx_capture) return &*s.nvtx_capture;
  return s.schedule && s.step_range ? &*s.step_range : nullptr;
}

}  // namespace

std::string why_nothing_was_recorded(settings const& s, capture_plan const& plan,
                                     name_registry const& names) {
  auto line = plan.why_none();
  if (s.schedule && !s.step_range && plan.steps() == 0 && !line.empty())
    return line + ". --step-range NAME takes each end of an NVTX range instead; " +
           seen_instead({}, "step", names);
  auto const* const wanted = awaited_range(s);
  if (wanted == nullptr) return line;
  line += "; " + seen_instead(*wanted, wanted->name, names);
  if (wanted->domain.empty() && !wanted->any_domain)
    line += ". " + in_quotes(wanted->name + "@*") + " takes it in any domain";
  return line;
}

std::string why_no_kernel_was_selected(settings const& s, std::uint64_t left_out,
                                       std::vector<std::string> const& kernels) {
  auto const all = counted(left_out, "kernels");
  auto const skipped = "--launch-skip " + std::to_string(s.launch_skip);
  if (s.kernel_names.empty())
    return "no kernel was recorded: " + skipped + " passes over the " + all + " that ran";
  std::vector<std::string> names;
  for (auto const& kernel : kernels) {
    if (kernel.empty()) continue;
    auto name = kernel_display_name(kernel, kernel_name_style::base);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    if (names.size() == max_compared) break;
  }
  auto const& first = s.kernel_names.front();
  auto line = "no kernel was recorded: --kernel-name " +
              in_quotes((first.is_regex ? "regex:" : "") + first.text);
  if (s.kernel_names.size() > 1) line += " and the others";
  if (s.launch_skip != 0) line += " with " + skipped;
  return line + " selects none of the " + all + " that ran; their names are " +
         list_of(std::move(names), first.text);
}

}  // namespace gpuprof::guest
