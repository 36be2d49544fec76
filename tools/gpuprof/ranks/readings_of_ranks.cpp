// SPDX-License-Identifier: Apache-2.0
#include "ranks/readings_of_ranks.hpp"

#include "base/readable.hpp"

namespace gpuprof {
namespace {

/// From the start of its first capture to the end of its last one.
bool ran_at_the_same_time(trace_contents& one, trace_contents& other) {
  return one.origin() <= other.last_moment() && other.origin() <= one.last_moment();
}

/// Command lines may differ: launchers pass each rank its number.
bool is_of_the_same_job(trace_contents const& one, trace_contents const& other) {
  for (auto const* const fact : {"environment.WORLD_SIZE", "environment.SLURM_JOB_ID"})
    if (one.fact(fact) != other.fact(fact)) return false;
  return true;
}

}  // namespace

std::vector<std::string> read_other_ranks(std::span<rank_file const> others, trace_contents& trace,
                                          roofline_reading& read) {
  std::vector<std::string> lines;
  for (auto const& other : others) {
    auto opened = capture::reader::open(other.path);
    if (!opened || opened->row_count<sampled_launch_record>() == 0) continue;
    trace_contents theirs(*std::move(opened));
    if (!is_of_the_same_job(trace, theirs) || !ran_at_the_same_time(trace, theirs)) continue;
    roofline_reading reading(theirs, std::nullopt, range_scope::process);
    reading.read(false);
    if (auto const kernels = read.take_readings(reading, other.rank); kernels > 0)
      lines.push_back("readings of " + counted(kernels, "kernels") + " are those of rank " +
                      std::to_string(other.rank) + ": " + other.path);
  }
  return lines;
}

}  // namespace gpuprof
