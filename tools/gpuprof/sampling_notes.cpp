// SPDX-License-Identifier: Apache-2.0
#include "sampling_notes.hpp"

#include "base/readable.hpp"
#include "text/overview.hpp"
#include "texts.hpp"

namespace gpuprof::host::command {
namespace {

std::string what_was_sampled(sampling_facts const& facts) {
  auto line = "samples in time: " + counted(facts.intervals, "intervals");
  if (facts.windows > 0) line += " in " + counted(facts.windows, "windows");
  if (facts.not_recorded > 0)
    line += ", " + readable_count(facts.not_recorded) +
            " left out: outside of what was recorded, or work had the times of another launch";
  if (facts.not_told_apart > 0)
    line += "; " + counted(facts.not_told_apart, "workloads without figures") +
            ": not to be told apart from what ran with them";
  if (facts.too_few > 0)
    line += "; " + counted(facts.too_few, "workloads without figures") + ": too few samples";
  if (facts.too_many > 0)
    line += "; " + counted(facts.too_many, "workloads without figures") +
            ": too many different kernels";
  return line;
}

/// A smaller share may be due to imprecise clocks.
constexpr double unseen_from = 0.02;

std::string unseen_line(double share) {
  return "the GPU worked " + percent_of(share) +
         " of the time in which nothing of this capture ran: other programs, or what was left out "
         "by filters. Samples count that too";
}

std::string price_line(sampling_price const& price) {
  auto const off = price.ratio - 1;
  return "sampling: " + counted(price.workloads, "workloads") + " took " +
         percent_of(off < 0 ? -off : off) + (off < -0.0005 ? " less" : " longer") +
         " inside its windows than outside (median by time)";
}

}  // namespace

std::vector<std::string> sampling_notes(roofline_reading const& read) {
  auto const& facts = read.sampling();
  std::vector<std::string> notes;
  if (facts.overflows > 0)
    notes.push_back("samples are missing, " + counted(facts.overflows, "times") +
                    ": the GPU's buffer for them ran over, or one sample covered others; what ran "
                    "then is told from the samples that are left");
  if (facts.intervals == 0) return notes;
  if (auto const& reason = read.samples_not_used(); !reason.empty()) {
    notes.push_back("samples in time are not used: " + reason);
    return notes;
  }
  if (facts.unseen >= unseen_from) notes.push_back(unseen_line(facts.unseen));
  notes.push_back(what_was_sampled(facts));
  if (facts.not_taken > 0)
    notes.push_back(readable_count(facts.not_taken) +
                    " values of samples are more than is held at once; the first ones are used");
  if (auto const price = read.price()) notes.push_back(price_line(*price));
  return notes;
}

}  // namespace gpuprof::host::command
