// SPDX-License-Identifier: Apache-2.0
#include "roofline_facts.hpp"

#include "base/readable.hpp"
#include "host/reading/roofline_reading.hpp"
#include "roofline_summary.hpp"
#include "sampling_notes.hpp"
#include "text/overview.hpp"

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::host::command {
namespace {

std::string share_text(double share) {
  char text[64];
  std::snprintf(text, sizeof text, "%.1f%%", share * 100);
  return text;
}

/// For how much of the time FLOP are known without having been counted around launches.
std::string uncounted_flop(roofline const& roofs) {
  std::string text;
  if (roofs.cycles_share() > 0)
    text += ", for " + share_text(roofs.cycles_share()) + " by the cycles of the tensor cores";
  if (roofs.fma_share() > 0)
    text += ", for " + share_text(roofs.fma_share()) + " by the instructions of the FMA pipes";
  if (roofs.without_flop_share() > 0)
    text +=
        ", for " + share_text(roofs.without_flop_share()) + " there are none in the machine code";
  return text;
}

/// What was counted around launches, and for how much of the time FLOP are known.
std::string counters_line(launch_metrics const& metrics, roofline const& roofs) {
  if (metrics.samples() == 0 && !(roofs.known_share() > 0))
    return "nothing was counted around launches, which FLOP need; gpuprof profile --metrics auto "
           "does";
  if (metrics.samples() == 0)
    return "nothing was counted around launches; FLOP known for " +
           share_text(roofs.known_share()) + " of the kernel time" + uncounted_flop(roofs) +
           "; gpuprof profile --metrics auto counts the others";
  auto const& discarded = metrics.discarded();
  std::string line = "counters: " + counted(metrics.samples(), "samples") + " from " +
                     counted(metrics.sampled_launches(), "launches");
  std::vector<std::pair<std::uint64_t, char const*>> const reasons = {
      {discarded.beside_kernels, "other kernels ran beside them"},
      {discarded.beside_copies, "copies ran beside them"},
      {discarded.without_kernel, "their kernel was not recorded"},
      {discarded.mixed, "their launches differ"}};
  for (auto const& [count, reason] : reasons)
    if (count > 0) line += ", " + readable_count(count) + " left out: " + reason;
  line += "; FLOP counted for " + share_text(roofs.exact_share() - roofs.without_flop_share()) +
          " of the kernel time";
  if (roofs.tensor_share() > 0)
    line += ", for " + share_text(roofs.tensor_share()) + " those of the tensor cores alone";
  line += uncounted_flop(roofs);
  return line;
}

/// Empty when every kind was read in all passes, or there are none.
std::string unread_kinds_line(trace_contents const& trace) {
  auto const unread = trace.counter("counters.kinds_unread");
  auto const partly = trace.counter("counters.kinds_partly_read");
  if (unread + partly == 0) return {};
  auto line = readable_count(unread + partly) + " of " +
              counted(trace.counter("counters.kinds"), "kinds of launches") +
              " were not read in all passes";
  if (unread > 0) line += ", " + readable_count(unread) + " of them in none";
  return line + ": they came too seldom, or the budget was spent (--overhead-budget)";
}

/// Empty when there are none.
std::string left_to_samples_line(trace_contents const& trace) {
  auto const left = trace.counter("counters.kinds_left_to_samples");
  if (left == 0) return {};
  return counted(left, "kinds of launches") +
         " are left to samples in some passes: they take too long, or differently long each time, "
         "or their machine code has nothing to count";
}

/// Empty when there are none.
std::string unrecorded_line(trace_contents const& trace) {
  auto const launches = trace.counter("counters.unrecorded");
  if (launches == 0) return {};
  return counted(launches, "launches") +
         " had their kernels rewritten to count operations: their times are those of others of "
         "their kind";
}

/// All that is behind the numbers of a roofline, for the JSON; roofline_summary has the short form.
///
/// What is missing or lost first.
std::vector<std::string> roofline_notes(trace_contents const& trace, roofline_reading const& read,
                                        roofline const& roofs) {
  auto notes = sampling_notes(read);
  if (auto line = unread_kinds_line(trace); !line.empty()) notes.push_back(std::move(line));
  if (auto line = left_to_samples_line(trace); !line.empty()) notes.push_back(std::move(line));
  notes.push_back(counters_line(read.exact(), roofs));
  if (auto line = unrecorded_line(trace); !line.empty()) notes.push_back(std::move(line));
  return notes;
}

}  // namespace

report::roofline_facts facts_of(trace_contents& trace, roofline_reading const& read,
                                roofline const& roofs, std::optional<std::uint32_t> device,
                                moments const& peaks) {
  report::roofline_facts facts;
  facts.notes = roofline_notes(trace, read, roofs);
  facts.gpu_ns = roofs.gpu_ns();
  facts.exact_share = roofs.exact_share();
  facts.known_share = roofs.known_share();
  facts.readings = trace.counters_of("counters");
  facts.samples = read.exact().samples();
  facts.discarded = read.exact().discarded();
  facts.sampling = read.sampling();
  if (auto const price = read.price()) facts.sampling_slowdown = price->ratio;
  for (auto const& [id, of] : read.devices()) {
    bool const is_wanted = !device || raw(id) == *device;
    if (!is_wanted || of.roofs.empty() || facts.roofs != nullptr) continue;
    facts.roofs = &of.roofs;
    facts.device = trace.device_names()[raw(id)];
  }
  auto const about = trace.overview();
  facts.overview = overview_lines(about);
  facts.summary = roofline_summary(trace, about, read, roofs, peaks);
  return facts;
}

}  // namespace gpuprof::host::command
