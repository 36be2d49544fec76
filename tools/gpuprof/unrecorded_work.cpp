// SPDX-License-Identifier: Apache-2.0
#include "unrecorded_work.hpp"

#include "base/readable.hpp"

#include <charconv>

namespace gpuprof {
namespace {

/// Each of them stands for work without a record. What is lost of names, threads, ranges and notes
/// of launches leaves the records of kernels where they are.
constexpr std::string_view losses[] = {"lost.kernels",
                                       "lost.graph_launches",
                                       "lost.work_of_launching_kernels",
                                       "lost.kernels_without_time",
                                       "lost.broken_buffers",
                                       "lost.other_records_without_time",
                                       "lost.buffers_refused",
                                       "lost.buffers",
                                       "lost.records_dropped_by_cupti",
                                       "lost.rows_on_disk",
                                       "lost.steps_without_memory",
                                       "lost.records_of_unknown_kind"};

/// Those that count records. So few of them move no figure by more than its error.
constexpr std::string_view single_losses[] = {"lost.kernels", "lost.kernels_without_time",
                                              "lost.other_records_without_time",
                                              "lost.records_dropped_by_cupti"};
constexpr std::uint64_t one_in = 1000;

bool are_few(trace_contents const& trace) {
  std::uint64_t single = 0, all = 0;
  for (auto const name : single_losses) single += trace.counter(name);
  for (auto const name : losses) all += trace.counter(name);
  return single == all && single * one_in <= trace.counter("seen.kernels");
}

constexpr std::uint32_t usual_flush_ms = 500, max_flush_ms = 60'000;

}  // namespace

std::string why_samples_are_not_used(trace_contents const& trace) {
  if (auto const left_out = trace.counter("seen.kernels_filtered"); left_out > 0)
    return counted(left_out, "kernels") +
           " that ran in them were left out by the capture's filters; capture without "
           "--kernel-name, "
           "--launch-skip and --launch-count";
  if (are_few(trace)) return {};
  report::overview lost;
  for (auto const name : losses) report::add_counter(lost, name, trace.counter(name));
  std::string list;
  for (auto const& [what, count] : lost.losses)
    if (count > 0) list += (list.empty() ? "" : ", ") + counted(count, what);
  for (auto const& what : lost.other_losses) list += (list.empty() ? "" : ", ") + what;
  return list.empty() ? list : "records of what ran in them were lost: " + list;
}

duration_ns unsure_end(trace_contents const& trace) {
  auto const text = trace.fact("environment.GPUPROF_FLUSH_INTERVAL_MS");
  std::uint32_t ms = usual_flush_ms;
  std::from_chars(text.data(), text.data() + text.size(), ms);
  return {std::int64_t{std::min(ms, max_flush_ms)} * 1'000'000};
}

}  // namespace gpuprof
