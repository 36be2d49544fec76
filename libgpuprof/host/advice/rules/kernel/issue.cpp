// SPDX-License-Identifier: Apache-2.0
// Rules on what keeps warps from issuing: shared-memory conflicts, divergence, waits.
#include "host/advice/rules/kernel/kernel_view.hpp"
#include "host/advice/wording.hpp"

#include <algorithm>

namespace gpuprof::host::advice {
namespace {

constexpr double noticeable_conflicts = 0.1;  // of accesses, as in Nsight Compute
constexpr double busy_pipe = 0.4;             // of cycles: the pipe may hold the kernel
constexpr double full_pipe = 0.8;             // the pipe holds the kernel
constexpr double few_threads = 24;            // of a warp's 32 threads, as in Nsight Compute
constexpr double threads_of_warp = 32;
constexpr double busy_issue = 0.4;
constexpr double noticeable_stall = 0.3;

struct reason_text {
  std::string_view waits_for, to_do;
};
constexpr reason_text reasons[stall_reason_count] = {
    {"data from global or local memory",
     "Load earlier (prefetch into registers or shared memory, cp.async or TMA), load more bytes at "
     "a time, or keep more warps on each SM."},
    {"shared memory or special functions",
     "Access shared memory with wider loads and without conflicts, use fast intrinsics, or put "
     "independent work between the load and its use."},
    {"the fixed latency of the instruction before",
     "Give each thread more independent work (unroll, several accumulators), or keep more warps on "
     "each SM."},
    {"other warps of the block at a barrier",
     "Split the block into smaller groups that synchronize, even out the work before the barrier, "
     "or use smaller blocks."},
    {"room in the queue of global and local memory",
     "Access global memory less often and wider (float4), and see to spills and coalescing."},
    {"room in the queue of shared memory and special functions",
     "Access shared memory less often and wider, keep values in registers, use shuffles."},
    {"a busy arithmetic pipe",
     "Mix instruction types, or use cheaper ones: the pipe is the limit."},
    {"tensor-core results",
     "Keep more products in flight: a deeper pipeline of tiles, or two groups of warps that take "
     "turns."}};

}  // namespace

void look_at_bank_conflicts(kernel_view const& view, std::vector<finding>& found) {
  auto const conflicts = view.seen.conflict_share, pipe = view.seen.shared_pipe_use;
  if (!conflicts || !pipe || *conflicts < noticeable_conflicts || *pipe < busy_pipe) return;
  auto one = finding_on(
      view, "bank_conflicts", kernel_claim::cause,
      in_percent(*conflicts) + " of its shared-memory accesses are repeated for bank conflicts");
  one.because = {{"conflicts of all accesses", *conflicts, "", "counted"},
                 {"cycles in which shared memory is busy", *pipe, "", "counted"}};
  one.gain = {*conflicts * *pipe * *pipe / 2 * view.time(),
              *conflicts * std::min(1.0, *pipe / full_pipe) * view.time()};
  one.arithmetic = "high: time x conflicts x min(1, pipe use / 0.8) = " + in_time(view.time()) +
                   " x " + as_figure(*conflicts) + " x " +
                   as_figure(std::min(1.0, *pipe / full_pipe)) +
                   "; low: half of time x conflicts x pipe use squared";
  one.to_do =
      "Let the threads of a warp access different banks: pad rows by one element "
      "(tile[32][33]), or swizzle the columns.";
  found.push_back(std::move(one));
}

void look_at_divergence(kernel_view const& view, std::vector<finding>& found) {
  auto const threads = view.seen.threads_per_instruction, issue = view.seen.issue_use;
  if (!threads || !issue || *threads >= few_threads || *issue < busy_issue) return;
  auto one = finding_on(
      view, "divergence", kernel_claim::cause,
      "an instruction works for " + as_figure(*threads) + " of the 32 threads of its warp");
  one.because = {{"threads of an instruction", *threads, "", "counted"},
                 {"issue slots used", *issue, "", "counted"}};
  one.gain = founded(view.time() * (1 - *threads / threads_of_warp) * *issue);
  one.arithmetic = "high: time x (1 - threads / 32) x issue use = " + in_time(view.time()) +
                   " x (1 - " + as_figure(*threads) + " / 32) x " + as_figure(*issue) +
                   "; low: half of it";
  one.to_do =
      "Let threads of one warp take the same branch: sort or group the work by what it "
      "needs, and move the branch out of the loop.";
  found.push_back(std::move(one));
}

void look_at_stalls(kernel_view const& view, std::vector<finding>& found) {
  auto const issue = view.seen.issue_use;
  auto const top = view.seen.longest_wait();
  if (!issue || !top || *issue >= full_issue || top->share <= noticeable_stall ||
      !view.is_latency_bound())
    return;
  auto const& text = reasons[static_cast<std::size_t>(top->reason)];
  auto one = finding_on(view, "stalls", kernel_claim::symptom,
                        "warps wait for " + std::string(text.waits_for) + " in " +
                            in_percent(top->share) + " of the time they wait");
  one.because = {{"stalled: " + std::string(name_of(top->reason)), top->share, "", "counted"},
                 {"issue slots used", *issue, "", "counted"}};
  one.gain = possible(view.time() * std::min(1 - *issue, top->share));
  one.arithmetic =
      "high: time x min(1 - issue use, share of the reason) = " + in_time(view.time()) + " x min(" +
      as_figure(1 - *issue) + ", " + as_figure(top->share) +
      "), at most the distance to the roof; low: 0";
  one.to_do = text.to_do;
  found.push_back(std::move(one));
}

}  // namespace gpuprof::host::advice
