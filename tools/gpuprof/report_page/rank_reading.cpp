// SPDX-License-Identifier: Apache-2.0
#include "report_page/rank_reading.hpp"

#include "host/analysis/ranks/step_waits.hpp"
#include "ranks/job_collectives.hpp"
#include "ranks/rank_reports.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace gpuprof {
namespace {

constexpr auto names = kernel_name_style::demangled;

}  // namespace

result<void> rank_reading::add(ranked_capture const& capture, std::string const& step_name) {
  auto opened = capture::reader::open(capture.path);
  if (!opened) return error{opened.message()};
  trace_contents trace(*std::move(opened));
  auto const steps = number_steps(trace.ranges(), trace.text(), step_name);
  digests_.push_back(read_digest(trace, {}, range_scope::process,
                                 {.ranges = true, .styles = {names}, .steps = &steps}));
  captures_.push_back(capture);
  heading_.add(trace.overview(), capture);
  return {};
}

finished_report rank_reading::report(std::string_view name) const {
  auto const chosen = *parse_report(name);
  auto finished = report_over_ranks(chosen, captures_, digests_);
  name_missing(finished, chosen.kind);
  return finished;
}

std::set<std::size_t> rank_reading::slowest(std::size_t count) const {
  std::vector<std::size_t> order(digests_.size());
  std::iota(order.begin(), order.end(), 0);
  if (order.empty()) return {};
  std::stable_sort(order.begin() + 1, order.end(), [&](std::size_t a, std::size_t b) {
    return digests_[a].work_ns > digests_[b].work_ns;
  });
  return {order.begin(),
          order.begin() + static_cast<std::ptrdiff_t>(std::min(count, order.size()))};
}

std::vector<std::vector<std::uint64_t>> rank_reading::waits() const {
  auto const all = collectives_of(captures_, digests_, names);
  if (all.empty()) return {};
  std::vector<std::vector<std::uint64_t>> waits;
  for (auto& of : waits_by_step(all.of_rank, all.clocks, all.tolerance_ns))
    waits.push_back(std::move(of.by_step));
  return waits;
}

}  // namespace gpuprof
