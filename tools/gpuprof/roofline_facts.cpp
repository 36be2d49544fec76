// SPDX-License-Identifier: Apache-2.0
#include "roofline_facts.hpp"

#include "base/readable.hpp"
#include "guest/options/option_table.hpp"
#include "host/reading/roofline_reading.hpp"
#include "sampling_notes.hpp"
#include "text/overview.hpp"
#include "texts.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuprof::host::command {

using namespace guest;

namespace {

/// From this share on, nothing is reported as missing.
constexpr double enough = 0.95;
/// Minimum share of unexplained time: less may be due to imprecise clocks.
constexpr double unseen_from = 0.02;
/// Readers would not read more.
constexpr std::size_t max_missing = 2;

/// Chips that share the CPU's memory count no DRAM bytes, and samples of short kernels do not cover
/// all of them.
std::string rates_words(roofline const& roofs) {
  auto const dram = percent_of(roofs.dram_share()), l2 = percent_of(roofs.l2_share());
  if (dram == l2) return "DRAM and L2 rates of " + dram;
  return "DRAM rates of " + dram + ", L2 rates of " + l2;
}

std::string known_line(roofline const& roofs, std::map<std::uint32_t, std::string> const& peaks) {
  auto line = "known: " + rates_words(roofs) + " of the kernel time, FLOP of " +
              percent_of(roofs.known_share());
  std::vector<std::string> sources;
  auto const add = [&](double share, char const* source) {
    if (share > 0) sources.push_back(percent_of(share) + " " + source);
  };
  auto const without = roofs.without_flop_share();
  add(std::max(0.0, roofs.exact_share() - without), "counted");
  add(roofs.cycles_share() - roofs.planned_share(), "from cycles of the tensor cores");
  add(roofs.planned_share(), "from cycles of the tensor cores at rates not measured on this chip");
  add(roofs.fma_share(), "from instructions of the FMA pipes");
  add(roofs.tensor_share(), "counted on the tensor cores alone");
  add(without, "none by their machine code");
  if (!sources.empty()) add(roofs.other_ranks_share(), "with readings of other ranks");
  if (sources.size() > 1) line += " (" + joined(sources, ", ") + ")";
  if (sources.size() == 1) line += ", " + sources.front().substr(sources.front().find(' ') + 1);
  if (peaks.empty()) return line;
  auto const latest = std::max_element(
      peaks.begin(), peaks.end(), [](auto const& a, auto const& b) { return a.second < b.second; });
  return line + "; peaks measured " + latest->second;
}

/// True if something is read around launches, but no operations.
bool counts_no_flop(launch_metrics const& metrics) {
  auto const& names = metrics.names();
  return !names.empty() && std::none_of(names.begin(), names.end(), [](std::string const& name) {
    return name.find("_executed_op_") != name.npos || name.find("_ops_path_") != name.npos;
  });
}

/// Says how to get more FLOP, with the option for it.
std::string missing_flop(trace_contents const& trace, roofline_reading const& read,
                         roofline const& roofs) {
  auto const what = "FLOP of " + percent_of(1 - roofs.known_share()) + " of the kernel time";
  auto const mode = trace.fact("environment.GPUPROF_METRICS");
  if (counts_no_flop(read.exact()))
    return what + ": the metrics that were chosen count none; --set roofline does";
  if (mode.starts_with("exact"))
    return what +
           ": --metrics exact reads one pass around every launch, without operations of CUDA "
           "cores; "
           "--metrics auto has them";
  if (mode.starts_with("sampled") ||
      (read.exact().samples() == 0 && trace.counter("counters.kinds") == 0))
    return what + ": gpuprof profile --metrics auto counts what samples cannot tell";
  auto const unread =
      trace.counter("counters.kinds_unread") + trace.counter("counters.kinds_partly_read");
  if (unread == 0) return what + ": neither samples nor launches that can be read safely tell them";
  return what + ": " + readable_count(unread) + " of " +
         counted(trace.counter("counters.kinds"), "kinds of launches") +
         " were not read in full; gpuprof profile --metrics auto --overhead-budget 5, or a longer "
         "run, reads more";
}

/// The most important comes first.
std::vector<std::string> all_missing(trace_contents const& trace, roofline_reading const& read,
                                     roofline const& roofs, bool has_peaks) {
  std::vector<std::string> missing;
  auto const& sampling = read.sampling();
  auto const& not_used = read.samples_not_used();
  if (sampling.overflows > 0)
    missing.push_back("samples, " + counted(sampling.overflows, "times") +
                      ": the GPU's buffer for them ran over (a longer --pm-sampling-interval "
                      "helps), or one sample covered others");
  if (sampling.intervals > 0 && !not_used.empty())
    missing.push_back("samples in time are not used: " + not_used);
  if (sampling.intervals > 0 && not_used.empty() && sampling.unseen >= unseen_from)
    missing.push_back("what else the GPU did: it worked for " + percent_of(sampling.unseen) +
                      " of the time in which nothing of this capture ran, and samples count that");
  if (!has_peaks)
    missing.emplace_back(
        "peaks of this GPU, so no percentages: run gpuprof peaks (3 s), then this again");
  if (roofs.known_share() < enough) missing.push_back(missing_flop(trace, read, roofs));
  // Considers only rates that were sampled at all.
  auto const dram = roofs.dram_share(), l2 = roofs.l2_share();
  auto const least_known = dram > 0 && l2 > 0 ? std::min(dram, l2) : std::max(dram, l2);
  if (sampling.intervals > 0 && not_used.empty() && least_known < enough)
    missing.push_back((dram < l2 && dram > 0 ? "DRAM rates of " : "rates of ") +
                      percent_of(1 - least_known) +
                      " of the kernel time: too few samples; a longer run has more");
  return missing;
}

}  // namespace

std::vector<std::string> roofline_summary(trace_contents const& trace, text::overview const& about,
                                          roofline_reading const& read, roofline const& roofs,
                                          std::map<std::uint32_t, std::string> const& peaks) {
  auto lines = overview_lines(about);
  auto const warnings = std::find_if(lines.begin(), lines.end(), [](std::string const& line) {
    return line.starts_with("warning: ");
  });
  std::vector<std::string> const damage(warnings, lines.end());
  lines.resize(2);  // keeps what was captured and what was lost
  lines.insert(lines.end(), damage.begin(), damage.end());
  lines.push_back(known_line(roofs, peaks));
  lines.push_back(text::cost_line(about));
  auto missing = all_missing(trace, read, roofs, !peaks.empty());
  if (missing.size() > max_missing) missing.resize(max_missing);
  if (!missing.empty()) lines.push_back("missing: " + joined(missing, ". Also "));
  return lines;
}

metrics_options captured_metrics(trace_contents const& trace) {
  settings asked;
  for (auto const* const name : {"metrics", "set", "overhead-budget", "overhead-once"}) {
    auto const& option = *find_option(name);
    auto const said = trace.fact("environment." + environment_name(option));
    // If the profiler rejected the value, the default stays here, too.
    if (!said.empty()) (void)set_option(asked, option, said, name);
  }
  return asked.metrics;
}

namespace {

std::string share_text(double share) {
  char text[64];
  std::snprintf(text, sizeof text, "%.1f%%", share * 100);
  return text;
}

/// Returns the shares of the time in which FLOP are known without having been counted around
/// launches.
std::string uncounted_flop(roofline const& roofs) {
  std::string text;
  if (roofs.cycles_share() > 0)
    text += ", for " + share_text(roofs.cycles_share()) + " by the cycles of the tensor cores" +
            (roofs.planned_share() > 0 ? " at rates not measured on this chip" : "");
  if (roofs.fma_share() > 0)
    text += ", for " + share_text(roofs.fma_share()) + " by the instructions of the FMA pipes";
  if (roofs.without_flop_share() > 0)
    text +=
        ", for " + share_text(roofs.without_flop_share()) + " there are none in the machine code";
  return text;
}

/// Returns what was counted around launches, and the share of the time in which FLOP are known.
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

/// Empty if every signature was read in all passes, or if there are none.
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

/// Empty if there are none.
std::string left_to_samples_line(trace_contents const& trace) {
  auto const left = trace.counter("counters.kinds_left_to_samples");
  if (left == 0) return {};
  return counted(left, "kinds of launches") +
         " are left to samples in some passes: they take too long, or differently long each time, "
         "or their machine code has nothing to count";
}

/// Empty if there are none.
std::string unrecorded_line(trace_contents const& trace) {
  auto const launches = trace.counter("counters.unrecorded");
  if (launches == 0) return {};
  return counted(launches, "launches") +
         " had their kernels rewritten to count operations: their times are those of others of "
         "their kind";
}

/// Returns all notes on the numbers of a roofline, for JSON; roofline_summary has the short form.
///
/// Missing and lost data come first.
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
  facts.costs = trace.costs();
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
