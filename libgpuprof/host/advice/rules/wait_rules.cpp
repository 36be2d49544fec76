// SPDX-License-Identifier: Apache-2.0
// Rules on waits of the program for the GPU, and of one stream for another.
#include "host/advice/rule.hpp"
#include "host/advice/rules/group/group_finding.hpp"
#include "host/advice/rules/measured_rates.hpp"
#include "host/advice/step_bound.hpp"
#include "host/advice/wording.hpp"
#include "model/gpu_work.hpp"

#include <algorithm>
#include <utility>

namespace gpuprof::host::advice {
namespace {

constexpr double min_serialized = 0.02;  // of the window

/// The rules on memory handle a wait inside a copy, unless the copy reads only a few bytes.
bool is_wait(gap_facts const& gap) {
  return gap.cause == time_bucket::synchronization && gap.count > 0 && !gap.call.empty() &&
         (gap.kind != call_kind::blocking_copy || gap.reads_result);
}

finding of_wait(gap_facts const& gap, step_bound const& bound) {
  finding one;
  one.call = gap.call;
  one.device = gap.device;
  one.range = gap.range;
  one.instances = gap.count;
  one.bucket = gap.cause;
  one.gain = bound.gain(gap.idle_ns, gap.sure_ns);
  one.removed_wait_ns = one.gain.high_ns;
  one.repairs = {
      {.kind = replay::repair_kind::drop_calls, .names = {gap.call}, .within = gap.range}};
  auto const mean = gap.idle_ns / static_cast<double>(gap.count);
  one.because = {{"idle behind it", mean, "ns", "traced"},
                 {"times", static_cast<double>(gap.count), "", "traced"}};
  one.arithmetic =
      "the GPU idles " + in_time(gap.idle_ns) + " behind it, " + in_time(gap.sure_ns) +
      " of it is sure; " + (bound.is_of_steps ? "steps take " : "the run takes ") +
      in_time(bound.excess()) + " beyond " +
      (bound.host_ns > 0 ? "the longer of GPU (" + in_time(bound.gpu_ns()) +
                               ") and launching thread (" + in_time(bound.host_ns) + ")"
                         : "its work on the GPU (" + in_time(bound.gpu_ns()) + ")");
  return one;
}

constexpr std::uint64_t result_bytes = 64;

/// Removing the wait also removes the read: its copy, and a pause of the GPU before it.
double cost_of_reads(run_facts const& facts, gap_facts const& gap) {
  double ns = 0;
  for (auto const& copy : facts.copies)
    if (copy.kind == copy_kind::device_to_host && copy.device == gap.device &&
        copy.range == gap.range && copy.bytes <= result_bytes * copy.count)
      ns += copy.alone_ns + static_cast<double>(copy.count) *
                                std::max(facts.run.back_to_back, facts.run.before_copy);
  return ns;
}

void look_at_waits(run_facts const& facts, std::vector<finding>& found) {
  auto const bound = bound_of(facts);
  for (auto const& gap : facts.gaps) {
    if (!is_wait(gap) || gap.whole_device) continue;
    auto one = of_wait(gap, bound);
    if (gap.reads_result) {
      auto const reads = cost_of_reads(facts, gap);
      one.gain.high_ns += reads;
      if (reads > 0)
        one.repairs.push_back({.kind = replay::repair_kind::drop,
                               .names = {operation_of(copy_kind::device_to_host)},
                               .within = gap.range,
                               .max_bytes = result_bytes});
      one.further_buckets = {time_bucket::transfer, time_bucket::back_to_back};
      one.arithmetic += "; the reads take " + in_time(reads);
      one.what = "the program reads a result of a few bytes (" + gap.call +
                 "), and the GPU idles until it launches again";
      one.to_do =
          "Keep the value on the GPU (no .item(), .cpu(), print or if on a tensor in the "
          "loop), or read it once in many steps, or one step late from pinned memory.";
      for (auto const& group : facts.groups) {
        if (group.pattern != group_pattern::reads) continue;
        for (auto& repair : repairs_of(group)) {
          repair.is_only_at_best = true;
          one.repairs.push_back(std::move(repair));
        }
        one.to_do +=
            " At best: sum up all tensors together, and read once (clip_grad_norm_, "
            "torch._foreach_norm).";
        break;  // there is one
      }
    } else {
      one.what = "the program waits in " + gap.call + ", and the GPU idles until it launches again";
      one.to_do =
          "Leave out the wait, or wait for the event that is needed as late as possible; "
          "launch the next work first. In PyTorch .item(), .nonzero(), boolean indexing and "
          "torch.cuda.synchronize() wait.";
    }
    found.push_back(std::move(one));
  }
}

void look_at_device_waits(run_facts const& facts, std::vector<finding>& found) {
  auto const bound = bound_of(facts);
  for (auto const& gap : facts.gaps) {
    if (!is_wait(gap) || !gap.whole_device) continue;
    auto one = of_wait(gap, bound);
    one.what = "the program waits for all streams in " + gap.call +
               ", and the GPU idles until it launches again";
    one.to_do =
        "Leave out the wait: work of one stream runs in order, and results are read with "
        "a wait of their own. Where one is needed, wait for the stream or an event "
        "(cudaStreamSynchronize, cudaStreamWaitEvent, torch.cuda.Event), to time code use "
        "events.";
    found.push_back(std::move(one));
  }
}

void look_at_serialized(run_facts const& facts, std::vector<finding>& found) {
  for (auto const& line : facts.serialized) {
    if (share_of_window(facts, line.overlap_ns) < min_serialized) continue;
    finding one;
    one.what = "work of one stream waits for another, with the default stream between them";
    one.device = line.device;
    one.range = line.range;
    one.instances = line.count;
    one.bucket = time_bucket::compute;
    one.gain = bound_of(facts).gain(line.overlap_ns, 0, {.busy_ns = line.overlap_ns});
    // The GPU pauses before and after the work of the default stream.
    auto const pauses = 2 * facts.run.back_to_back * static_cast<double>(line.count);
    one.gain.high_ns += pauses;
    // Side by side, kernels share what the GPU has.
    one.repairs = {
        {.kind = replay::repair_kind::free_streams, .within = line.range, .is_only_at_best = true}};
    one.condition = "the GPU has room for both, and neither needs the other";
    one.further_buckets = {time_bucket::back_to_back, time_bucket::dependency};
    one.because = {{"could run side by side", line.overlap_ns, "ns", "traced"},
                   {"waited, though launched", line.waited_ns, "ns", "traced"}};
    one.to_do =
        "Launch nothing in the legacy default stream: create the streams with "
        "cudaStreamNonBlocking, compile with --default-stream per-thread, or put the work "
        "into one of the streams (with torch.cuda.stream(s):).";
    one.arithmetic =
        "of each pair the shorter one and what stood between, at most what was waited, where the "
        "SMs "
        "have room for both: " +
        in_time(line.overlap_ns) + "; two pauses of the GPU each take " + in_time(pauses);
    found.push_back(std::move(one));
  }
}

constexpr std::string_view gain_of_waits =
    "low: the sum of min(gap, duration of the wait), without what returning from the wait and "
    "starting the next work take beyond the measured round trip (synchronize): recording makes "
    "both slower; high: all of the idle time, at most P - max(B + n x pause, C), and the launches "
    "between reads with only sums between them";

constexpr rule wait_table[] = {
    {.name = "sync_point",
     .group = rule_group::synchronization,
     .needs = data::kernels | data::blocking_calls,
     .question = "Does the GPU idle behind waits of the program?",
     .fires_at = "the idle time behind one call, not the call itself: a wait while the GPU has "
                 "enough to do costs nothing",
     .gain = gain_of_waits,
     .ignores = "code that needs the value",
     .next = "NVTX ranges around the parts of a step name the place",
     .look = look_at_waits},
    {.name = "device_wide_sync",
     .group = rule_group::synchronization,
     .needs = data::kernels | data::blocking_calls,
     .question = "Does the GPU idle behind waits for all of its streams?",
     .fires_at = "the idle time behind one call, not the call itself: a wait while the GPU has "
                 "enough to do costs nothing",
     .gain = gain_of_waits,
     .ignores = "code that needs all results at once",
     .next = "NVTX ranges around the parts of a step name the place",
     .look = look_at_device_waits},
    {.name = "serialized_streams",
     .group = rule_group::synchronization,
     .needs = data::kernels | data::streams,
     .question = "Does the default stream keep apart what could run side by side?",
     .fires_at = "pairs that both fit onto the SMs would save 2 % of the window: two kernels that "
                 "fill the GPU each gain nothing side by side",
     .gain =
         "low: 0; high: the shorter of each pair and what stood between, at most what was waited, "
         "and two pauses of the GPU",
     .ignores = "memory rate that both need; data that one passes to the other",
     .next = "a timeline (gpuprof export) shows the streams",
     .look = look_at_serialized},
};

}  // namespace

std::span<rule const> wait_rules() noexcept {
  return wait_table;
}

}  // namespace gpuprof::host::advice
