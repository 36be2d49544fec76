// SPDX-License-Identifier: Apache-2.0
#include "ranks/rank_reports.hpp"

#include "base/readable.hpp"
#include "host/analysis/ranks/clock_offsets.hpp"
#include "host/report/rank_tables.hpp"
#include "host/report/summary_tables.hpp"
#include "ranks/capture_set.hpp"
#include "ranks/rank_digest.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::host::command {
namespace {

std::string name_of(host_clock const& clock) {
  return clock.host.empty() ? "the host of the first rank" : clock.host;
}

/// Hosts without a name in the captures share one line.
std::string of_unnamed_hosts(std::span<host_clock const> clocks) {
  double furthest = 0, error = 0;
  std::size_t unnamed = 0, aligned = 0;
  for (auto const& clock : clocks) {
    if (!clock.host.empty()) continue;
    ++unnamed;
    if (!clock.error_ns) continue;
    ++aligned;
    furthest = std::max(furthest, std::abs(static_cast<double>(clock.ahead_ns)));
    error = std::max(error, static_cast<double>(*clock.error_ns));
  }
  if (unnamed == 0) return {};
  auto line =
      "clocks: " + counted(unnamed, "captures") + " do not say on which host they were made";
  if (aligned != 0)
    line += "; " + std::to_string(aligned) + " are aligned by ends of collectives, by " +
            readable_time(furthest) + " at most, +- " + readable_time(error);
  if (aligned < unnamed)
    line +=
        "; the clocks of " + std::to_string(unnamed - aligned) +
        " are taken to agree, with an unknown error: no collectives that ran equally often tell";
  return line;
}

std::string aligned(host_clock const& clock, std::string const& reference) {
  return "clocks: " + name_of(clock) + " is " +
         readable_time(std::abs(static_cast<double>(clock.ahead_ns))) +
         (clock.ahead_ns < 0 ? " behind " : " ahead of ") + reference + ", +- " +
         readable_time(static_cast<double>(*clock.error_ns)) + ", by " +
         counted(clock.ends, "ends of collectives") +
         "; taken into account, differences below the error mean nothing";
}

/// Returns notes on the clocks, for reports that compare times on several hosts.
std::vector<std::string> clock_notes(clock_offsets const& clocks) {
  std::vector<std::string> notes;
  if (clocks.hosts.empty()) return notes;
  auto const reference = name_of(clocks.hosts.front());
  for (auto const& clock : clocks.hosts) {
    if (clock.was_stepped)
      notes.push_back("clocks: the wall clock of " + name_of(clock) +
                      " was set between the starts of its ranks; taken into account");
    if (&clock == &clocks.hosts.front() || clock.host.empty()) continue;
    notes.push_back(clock.error_ns
                        ? aligned(clock, reference)
                        : "clocks: " + name_of(clock) + " and " + reference +
                              " are taken to agree, with an unknown error: no collectives that "
                              "ran equally often on both tell how far they are apart");
  }
  if (auto line = of_unnamed_hosts(std::span(clocks.hosts).subspan(1)); !line.empty())
    notes.push_back(std::move(line));
  return notes;
}

class rank_reports {
 public:
  rank_reports(std::span<ranked_capture const> captures, std::span<rank_digest const> digests)
      : captures_(captures), digests_(digests) {
    for (auto const& capture : captures) labels_.push_back(capture.label);
  }

  finished_report finish(chosen_report const& report) const;

 private:
  text::table ranks_table() const;
  std::vector<report::line_over_ranks> kernel_lines(kernel_name_style style) const;
  std::vector<report::line_over_ranks> range_lines() const;
  finished_report collectives(kernel_name_style style) const;
  void add_step_notes(std::vector<std::string>& notes) const;
  std::vector<std::string> slowed_notes() const;

  std::span<ranked_capture const> captures_;
  std::span<rank_digest const> digests_;
  std::vector<std::string> labels_;
};

text::table rank_reports::ranks_table() const {
  std::vector<report::rank_line> lines;
  for (std::size_t i = 0; i < digests_.size(); ++i) {
    auto const& of = digests_[i];
    auto const& capture = captures_[i];
    lines.push_back({capture.label, capture.host, of.gpus, capture.path, capture.process,
                     of.kernels, of.launches, of.devices, of.busy_ns, of.work_ns, of.collective_ns,
                     of.window_ns});
  }
  return report::ranks_table(lines);
}

std::vector<report::line_over_ranks> rank_reports::kernel_lines(kernel_name_style style) const {
  std::map<std::string, report::line_over_ranks> lines;
  for (std::size_t i = 0; i < digests_.size(); ++i)
    for (auto const& [name, amount] : digests_[i].by_style.at(style).kernels)
      lines[name].parts.push_back({i, amount.count, amount.ns, 0});
  std::vector<report::line_over_ranks> all;
  for (auto& [name, line] : lines) {
    line.name = name;
    all.push_back(std::move(line));
  }
  return all;
}

std::vector<report::line_over_ranks> rank_reports::range_lines() const {
  std::map<std::pair<std::string, range_style>, report::line_over_ranks> lines;
  for (std::size_t i = 0; i < digests_.size(); ++i)
    for (auto const& [key, amount] : digests_[i].ranges)
      lines[key].parts.push_back({i, amount.count, amount.ns, amount.work_ns});
  std::vector<report::line_over_ranks> all;
  for (auto& [key, line] : lines) {
    line.name = key.first;
    line.style = report::style_name(key.second);
    all.push_back(std::move(line));
  }
  return all;
}

finished_report rank_reports::collectives(kernel_name_style style) const {
  auto const all = collectives_of(captures_, digests_, style);
  finished_report finished;
  auto const rows = collective_waits(all.of_rank, all.clocks, all.tolerance_ns);
  finished.table = report::rank_collective_table(rows, labels_);
  if (all.empty()) {
    finished.missing = "the captures hold no kernels of collectives";
    return finished;
  }
  finished.notes = clock_notes(all.clocks);
  add_step_notes(finished.notes);
  return finished;
}

void rank_reports::add_step_notes(std::vector<std::string>& notes) const {
  constexpr std::uint64_t millisecond = 1'000'000;
  for (std::size_t i = 0; i < digests_.size(); ++i)
    if (digests_[i].clock_step_ns > millisecond)
      notes.push_back("clocks: the wall clock of rank " + labels_[i] + " was set by " +
                      readable_time(static_cast<double>(digests_[i].clock_step_ns)) +
                      " during its capture; what it has on one side of that does not fit");
}

std::vector<std::string> rank_reports::slowed_notes() const {
  rank_remarks notes;
  for (std::size_t i = 0; i < digests_.size(); ++i)
    if (digests_[i].slowed > 0)
      notes.add(counted(digests_[i].slowed, "launches") +
                    " slowed down by counter readings: the mean of the kernel's other launches "
                    "stands for them",
                labels_[i]);
  return notes.lines(labels_.size());
}

finished_report rank_reports::finish(chosen_report const& report) const {
  finished_report finished;
  switch (report.kind) {
    case report_kind::ranks_sum:
      finished.table = ranks_table();
      break;
    case report_kind::ranks_range_sum: {
      auto lines = range_lines();
      if (lines.empty()) finished.missing = "the captures hold no NVTX ranges";
      finished.table = report::rank_range_table(std::move(lines), labels_);
      break;
    }
    case report_kind::ranks_kern_sum: {
      auto lines = kernel_lines(report.names);
      if (lines.empty()) finished.missing = "the captures hold no kernels";
      finished.table = report::rank_kernel_table(std::move(lines), labels_);
      break;
    }
    default:
      return collectives(report.names);
  }
  finished.notes = slowed_notes();
  return finished;
}

}  // namespace

finished_report report_over_ranks(chosen_report const& report,
                                  std::span<ranked_capture const> captures,
                                  std::span<rank_digest const> digests) {
  return rank_reports(captures, digests).finish(report);
}

}  // namespace gpuprof::host::command
