// SPDX-License-Identifier: Apache-2.0
#include "ranks/clock_notes.hpp"

#include "base/readable.hpp"

#include <cmath>

namespace gpuprof {
namespace {

std::string name_of(host_clock const& clock) {
  return clock.host.empty() ? "a host without a name" : clock.host;
}

std::string aligned(host_clock const& clock, std::string const& reference) {
  return "clocks: " + name_of(clock) + " is " +
         readable_time(std::abs(static_cast<double>(clock.ahead_ns))) +
         (clock.ahead_ns < 0 ? " behind " : " ahead of ") + reference + ", +- " +
         readable_time(static_cast<double>(*clock.error_ns)) + ", by " +
         counted(clock.ends, "ends of collectives") +
         "; taken into account, differences below the error mean nothing";
}

}  // namespace

std::vector<std::string> clock_notes(clock_offsets const& clocks) {
  std::vector<std::string> notes;
  if (clocks.hosts.empty()) return notes;
  auto const reference = name_of(clocks.hosts.front());
  for (auto const& clock : clocks.hosts) {
    if (clock.was_stepped)
      notes.push_back("clocks: the wall clock of " + name_of(clock) +
                      " was set between the starts of its ranks; taken into account");
    if (&clock == &clocks.hosts.front()) continue;
    notes.push_back(clock.error_ns
                        ? aligned(clock, reference)
                        : "clocks: " + name_of(clock) + " and " + reference +
                              " are taken to agree, with an unknown error: no collectives that "
                              "ran equally often on both tell how far they are apart");
  }
  return notes;
}

}  // namespace gpuprof
