// SPDX-License-Identifier: Apache-2.0
// Rules on memory that is allocated in the loop, and on memory that migrates.
#include "host/advice/rules/idle_sum.hpp"
#include "host/advice/rules/looks.hpp"
#include "host/advice/rules/measured_rates.hpp"
#include "host/advice/step_bound.hpp"
#include "host/advice/wording.hpp"

#include <algorithm>

namespace gpuprof::host::advice {
namespace {

constexpr std::uint64_t min_calls = 10;  // without steps
constexpr double min_migration = 0.02;   // of the window

}  // namespace

void look_at_allocations(run_facts const& facts, std::vector<finding>& found) {
  auto const calls = calls_of(facts, call_kind::allocate);
  auto const steps = facts.steps.period_ns.size();
  // Steps of the warm-up are not counted in `calls`.
  if (calls.count < (steps > 0 ? std::max<std::size_t>(1, steps - steps / 10) : min_calls)) return;
  auto const idle =
      idle_of(facts, [](auto const& gap) { return gap.cause == time_bucket::allocation; });
  auto one = behind_calls(calls, idle, time_bucket::allocation);
  one.what = "memory is allocated or freed " + in_times(calls.count) + " after warm-up";
  if (one.range.empty()) one.range = majority(calls.by_range);
  // The GPU idles during the calls: their time is not saved twice.
  one.gain = bound_of(facts).gain(std::max(calls.total_ns, idle.idle_ns), idle.sure_ns,
                                  {.host_ns = calls.total_ns});
  one.repairs = {repair_without(calls)};
  // Calls that take longer than the quickest were held by something else, as by this profiler.
  one.repairs.front().sure = idle.sure_ns / static_cast<double>(calls.count);
  // A call that waits also delays the launches behind it.
  one.further_buckets = {time_bucket::launch_bound, time_bucket::synchronization,
                         time_bucket::cpu_work, time_bucket::between_steps};
  one.to_do =
      "Allocate once before the loop and use the buffers again, or use cudaMallocAsync and "
      "cudaFreeAsync with a pool. In PyTorch: no torch.cuda.empty_cache() in the loop, "
      "shapes that stay the same, expandable_segments:True.";
  one.arithmetic +=
      "; a step can be no shorter than its GPU work and its launching thread without "
      "them";
  found.push_back(std::move(one));
}

void look_at_migrations(run_facts const& facts, std::vector<finding>& found) {
  auto const peak = measured(facts, "h2d");
  if (!peak) return;
  auto const at_peak = ns_at(facts.migrated_bytes, *peak);
  if (share_of_window(facts, at_peak) < min_migration) return;
  finding one;
  one.what = "pages of unified memory move between host and GPU while kernels need them";
  one.instances = facts.page_faults;
  one.bucket = time_bucket::compute;  // kernels occupy the GPU while they wait for pages
  one.further_buckets = {time_bucket::transfer, time_bucket::cpu_work, time_bucket::host_unknown};
  auto const low = std::clamp(facts.migration_alone_ns - at_peak, 0.0, facts.migration_ns);
  one.gain = {low, facts.migration_ns};
  one.because = {{"moved", facts.migrated_bytes / 1e6, "MB", "traced"},
                 {"time of migration", facts.migration_ns, "ns", "traced"},
                 {"page faults", static_cast<double>(facts.page_faults), "", "traced"}};
  one.to_do =
      "Move the pages before the kernels need them (cudaMemPrefetchAsync), say where they "
      "belong (cudaMemAdvise), or use device memory and explicit copies.";
  one.arithmetic = "migration takes " + in_time(facts.migration_ns) + ", of which " +
                   in_time(facts.migration_alone_ns) + " beside no kernel; the bytes at " +
                   in_rate(*peak) + " take " + in_time(at_peak);
  found.push_back(std::move(one));
}

}  // namespace gpuprof::host::advice
