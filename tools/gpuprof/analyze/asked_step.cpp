// SPDX-License-Identifier: Apache-2.0
#include "analyze/asked_step.hpp"

#include "analyze/steady_part.hpp"
#include "analyze/step_reading.hpp"

#include <algorithm>
#include <charconv>

namespace gpuprof::host::command {
namespace {

/// Returns false if the text asks for no single step.
bool read_number(std::string_view text, asked_step& to) {
  if (text == "slowest") return to.is_slowest = true;
  std::size_t number = 0;
  auto const [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || failed != std::errc() || end != text.data() + text.size()) return false;
  to.number = number;
  return true;
}

std::size_t warm_up_of(range_tree const& tree, step_ranges const& steps) {
  auto const steady = steady_part_of(tree, steps);
  return steady ? steps_before(tree, steps, steady->time.begin) : 0;
}

timestamp_ns end_of(range_tree const& tree, step_ranges const& steps, std::size_t number) {
  auto const& step = tree[steps.instances[number]];
  for (auto next = number + 1; next < steps.instances.size(); ++next)
    if (auto const& other = tree[steps.instances[next]]; other.thread == step.thread)
      return std::max(step.end, other.begin);
  return step.end;
}

}  // namespace

asked_step parse_asked_step(std::string_view text) {
  asked_step asked;
  if (read_number(text, asked)) return asked;
  auto const slash = text.rfind('/');
  if (slash != std::string_view::npos && read_number(text.substr(slash + 1), asked))
    text = text.substr(0, slash);
  asked.name = std::string(text);
  return asked;
}

result<found_step> find_step(trace_contents& trace, asked_step const& asked) {
  auto const& tree = trace.ranges();
  auto const steps = number_steps(tree, trace.text(), asked.name);
  auto const count = steps.instances.size();
  if (steps.empty())
    return error{asked.name.empty() ? std::string("no NVTX range repeats as a step does")
                                    : "no range is called '" + asked.name + "'"};
  if (asked.number && *asked.number >= count)
    return error{"there are " + std::to_string(count) + " steps \"" + steps.name +
                 "\", the first of them has the number 0"};
  auto const periods = periods_ahead(trace, steps);
  found_step found;
  found.count = count;
  found.name = steps.name;
  found.warm_up = warm_up_of(tree, steps);
  found.number = asked.number.value_or(static_cast<std::size_t>(
      std::max_element(periods.begin() + static_cast<std::ptrdiff_t>(found.warm_up),
                       periods.end()) -
      periods.begin()));
  found.period_ns = periods[found.number];
  found.time = {tree[steps.instances[found.number]].begin, end_of(tree, steps, found.number)};
  return found;
}

}  // namespace gpuprof::host::command
