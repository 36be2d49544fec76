// SPDX-License-Identifier: Apache-2.0
#include "comparison/read_sides.hpp"

#include "comparison/run_reading.hpp"
#include "ranks/capture_names.hpp"

#include <future>
#include <utility>

namespace gpuprof {
namespace {

result<std::vector<compare::run_digest>> read_side(std::vector<std::string> const& names,
                                                   std::string const& step) {
  auto const files = named_captures(names);
  if (!files) return error{files.message()};
  std::vector<compare::run_digest> runs;
  for (auto const& file : *files) {
    auto run = read_run(file, step);
    if (!run) return error{run.message()};
    if (!step.empty() && !run->step)
      return error{file + ": no range is called '" + step +
                   "'; gpuprof stats -r nvtx_sum lists them"};
    runs.push_back(*std::move(run));
  }
  return runs;
}

}  // namespace

result<two_sides> read_sides(std::vector<std::string> const& base,
                             std::vector<std::string> const& fresh, std::string const& step) {
  // What one throws, for want of memory, comes out of get(), after the other has ended.
  auto reading = std::async(std::launch::async, [&] { return read_side(base, step); });
  auto new_runs = read_side(fresh, step);
  auto base_runs = reading.get();
  if (!base_runs) return error{base_runs.message()};
  if (!new_runs) return error{new_runs.message()};
  return two_sides{*std::move(base_runs), *std::move(new_runs)};
}

}  // namespace gpuprof
